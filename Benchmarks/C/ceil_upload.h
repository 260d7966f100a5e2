// Bodies to send: from a file of known length, or in chunks from a stream whose length shows at its end.
#pragma once
#include "ceil_tls.h"

enum { PIECE = 65536, CHUNK_HEAD = 6, CHUNK = PIECE - CHUNK_HEAD - 2 }; // a whole chunk makes four full records

static int upload_file = -1;
static int64_t upload_length;

// One body is on its way per connection; its pieces are made one after the other.
typedef struct {
    char piece[PIECE];
    size_t length, sent;
    int64_t made; // bytes of the body
    int ended;
} upload_t;

static upload_t *uploads; // one per connection
static connection_t *first_connection;

static upload_t *upload_of(const connection_t *c) { return &uploads[c - first_connection]; }

static void prepare_upload(connection_t *connections) {
    if (!arguments.upload && !arguments.upload_stream) return;
    uploads = calloc((size_t)arguments.concurrency, sizeof *uploads);
    first_connection = connections;
    upload_length = arguments.upload_stream;
    if (!arguments.upload) return;
    struct stat status;
    upload_file = open(arguments.upload, O_RDONLY | O_CLOEXEC);
    if (upload_file < 0 || fstat(upload_file, &status)) refuse(&arguments, "cannot read ", arguments.upload);
    upload_length = status.st_size;
}

static void begin_body(connection_t *c) {
    upload_t *u = upload_of(c);
    u->length = u->sent = 0;
    u->made = u->ended = 0;
}

static void read_piece(upload_t *u) {
    ssize_t n = pread(upload_file, u->piece, PIECE, u->made);
    if (n <= 0) fail("cannot read the file to upload");
    u->length = (size_t)n;
    u->made += n;
    u->ended = u->made == upload_length;
}

// A stream costs what it copies.
static void make_chunk(upload_t *u) {
    static const char stream[CHUNK];
    int64_t left = upload_length - u->made;
    size_t n = left < CHUNK ? (size_t)left : CHUNK;
    int head = sprintf(u->piece, "%04zX\r\n", n);
    memcpy(u->piece + head, stream, n);
    memcpy(u->piece + head + n, "\r\n", 2);
    u->length = (size_t)head + n + 2;
    u->made += (int64_t)n;
}

static void make_last_chunk(upload_t *u) {
    memcpy(u->piece, "0\r\n\r\n", 5);
    u->length = 5;
    u->ended = 1;
}

static void make_piece(upload_t *u) {
    u->sent = 0;
    if (arguments.upload) read_piece(u);
    else if (u->made < upload_length) make_chunk(u);
    else make_last_chunk(u);
}

static int all_sealed_is_sent(connection_t *c) { return !c->ssl || flush_sealed(SSL_get_wbio(c->ssl)); }

static int send_body(connection_t *c) {
    upload_t *u = upload_of(c);
    for (;;) {
        if (!all_sealed_is_sent(c)) return 0;
        if (u->sent == u->length) {
            if (u->ended || upload_length == 0) break;
            make_piece(u);
        }
        size_t n = write_some(c, u->piece + u->sent, u->length - u->sent);
        if (!n) return 0;
        u->sent += n;
    }
    c->state = HEAD;
    return 0; // nothing can have arrived yet; the edge will tell
}
