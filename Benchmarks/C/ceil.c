// The physical limit: one thread, edge-triggered epoll, prebuilt request bytes, parses only Content-Length.
// No URL handling beyond host:port/path, no redirects, no header storage, no timeouts: nothing a real client
// could leave out is left in, no body is kept or decoded, so it bounds what a client on one epoll thread (with OpenSSL) can do.
#include "ceil_connection.h"
#include "ceil_pipeline.h"
#include "ceil_tls.h"
#include "ceil_upload.h"
#include "ceil_websocket.h"

enum { EVENTS = 256, BUFFER = 262144, FILE_BUFFER = 1 << 20 };

static char buffer[FILE_BUFFER + LARGEST_HEAD];
static long started, finished, target;
static size_t unwritten; // at the beginning of the buffer

// MARK: Steps of a connection. Each returns 0 when it has to wait for the socket.

static int finish_connecting(connection_t *c) {
    check_connected(c);
    c->state = SEND;
    if (!context) return 1;
    begin_tls(c, uploads != NULL);
    c->state = HANDSHAKE;
    return 1;
}

static int handshake(connection_t *c) {
    if (!moved(c, SSL_do_handshake(c->ssl), "handshake")) return 0;
    c->state = SEND;
    return 1;
}

static int send_request(connection_t *c) {
    if (arguments.pipeline) {
        work_on_pipeline();
        return 0;
    }
    while (c->sent < request_length) {
        size_t n = write_some(c, request + c->sent, request_length - c->sent);
        if (!n) return 0;
        c->sent += n;
    }
    c->state = uploads ? SEND_BODY : HEAD;
    return uploads != NULL; // no response can have arrived yet; the edge will tell
}

static void write_out(size_t least) {
    if (out < 0 || unwritten < least) return;
    write_to_out(buffer, unwritten);
    unwritten = 0;
}

static void keep_first_bytes(const char *bytes, size_t n) {
    if (out < 0) return;
    memmove(buffer, bytes, n);
    unwritten = n;
}

// Chunks are not taken apart: only slow answers, which are not timed, come in some.
static int ends_chunks(connection_t *c, const char *bytes, size_t n) {
    for (size_t i = n > 8 ? n - 8 : 0; i < n; i++) c->tail = c->tail << 8 | (unsigned char)bytes[i];
    return (c->tail & 0xFFFFFFFFFF) == 0x300D0A0D0A; // 0 CR LF CR LF
}

static void finish(connection_t *c);

static int read_chunks(connection_t *c) {
    size_t n = read_some(c, buffer, BUFFER);
    if (!n) return 0;
    c->body += n;
    if (!ends_chunks(c, buffer, n)) return 1;
    finish(c);
    return 0;
}

static int begin_chunks(connection_t *c, size_t head) {
    if (out >= 0) fail("--out is for bodies of known length");
    c->tail = 0;
    c->state = CHUNKS;
    if (!ends_chunks(c, buffer + head, c->body)) return 1;
    finish(c);
    return 0;
}

static int read_head(connection_t *c) {
    size_t have = read_some(c, buffer, BUFFER);
    if (!have) return 0;
    if (c->head_length) { // rare
        memmove(buffer + c->head_length, buffer, have);
        memcpy(buffer, c->head, c->head_length);
        have += c->head_length;
    }
    size_t head = whole_head(buffer, have);
    if (!head) {
        if (have > LARGEST_HEAD) fail("head too large");
        if (!c->head) c->head = malloc(LARGEST_HEAD);
        memcpy(c->head, buffer, have);
        c->head_length = have;
        return 1;
    }
    c->head_length = 0;
    c->body = have - head;
    c->left = content_length(buffer, head);
    if (c->left < 0) return begin_chunks(c, head);
    c->left -= (int64_t)c->body;
    if (c->left < 0) fail("bytes beyond the body");
    keep_first_bytes(buffer + head, c->body);
    c->state = BODY;
    return 1;
}

static int read_body(connection_t *c) {
    size_t room = out < 0 ? BUFFER : FILE_BUFFER;
    while (c->left > 0) {
        size_t space = room - unwritten, wanted = (size_t)c->left < space ? (size_t)c->left : space;
        size_t n = read_some(c, buffer + unwritten, wanted);
        if (!n) return 0;
        c->left -= (int64_t)n;
        c->body += n;
        if (out < 0) continue;
        unwritten += n;
        write_out(FILE_BUFFER);
    }
    finish(c);
    return 0;
}

static void step(connection_t *c) {
    static int (*const steps[])(connection_t *) = {
        [CONNECTING] = finish_connecting, [HANDSHAKE] = handshake, [SEND] = send_request, [SEND_BODY] = send_body,
        [HEAD] = read_head,               [BODY] = read_body,      [CHUNKS] = read_chunks,
    };
    while (c->state != PARKED && steps[c->state](c)) {}
}

static void close_out(void) {
    if (out < 0) return;
    write_out(1);
    close(out);
    out = -1;
}

static void start(connection_t *c) {
    c->state = PARKED;
    if (started == target) return;
    started++;
    c->sent = 0;
    c->began_ns = now_ns();
    open_out();
    if (uploads) begin_body(c);
    if (c->fd < 0) {
        open_connection(c);
        return;
    }
    c->state = SEND;
    step(c);
}

static void finish(connection_t *c) {
    close_out();
    statistics_add(&statistics, now_ns() - c->began_ns, arguments.post ? (uint64_t)arguments.post : uploads ? (uint64_t)upload_length : c->body);
    finished++;
    if (arguments.close_each) close_connection(c);
    start(c);
}

// MARK: The run

static void prepare_request(const char *url) {
    char fields[64] = "";
    int posts = uploads || arguments.post;
    int64_t length = arguments.post ? arguments.post : upload_length;
    if (posts) snprintf(fields, sizeof fields, "Content-Length: %lld\r\n", (long long)length);
    if (arguments.upload_stream) strcpy(fields, "Transfer-Encoding: chunked\r\n");
    if (arguments.coded) strcpy(fields, "Accept-Encoding: gzip\r\n");
    write_request(posts ? "POST" : "GET", url, fields);
}

static void turn(void) {
    struct epoll_event events[EVENTS];
    int count = epoll_wait(epoll, events, EVENTS, -1);
    for (int i = 0; i < count; i++) {
        connection_t *c = events[i].data.ptr;
        int only_writable = !(events[i].events & ~(unsigned)EPOLLOUT);
        if (c->fd >= 0 && !(c->state == HEAD && only_writable)) step(c);
    }
}

static void run_pipeline(long requests) {
    pipeline.target = requests;
    pipeline.started = pipeline.finished = 0;
    if (pipeline.connection.fd < 0) open_connection(&pipeline.connection);
    else work_on_pipeline();
    while (pipeline.finished < requests) turn();
}

static void run(long requests, connection_t *connections) {
    if (arguments.pipeline) {
        run_pipeline(requests);
        return;
    }
    target = requests;
    started = finished = 0;
    for (long i = 0; i < arguments.concurrency; i++) start(&connections[i]);
    while (finished < target) turn();
}

static void rest(connection_t *connections) {
    prepare_request(quick_url(&arguments));
    run(1, connections);
    prepare_request(arguments.url);
    rest_t before = at_rest();
    run(arguments.concurrency, connections);
    rest_t first = at_rest();
    run(arguments.concurrency, connections);
    report_rest("ceil", before, first, at_rest());
}

int main(int argc, char **argv) {
    arguments = parse_arguments(argc, argv);
    if (arguments.style) refuse(&arguments, "there is one style only: remove --style ", arguments.style);
    allow_many_descriptors();
    if (arguments.message) return measure_messages();
    connection_t *connections = calloc((size_t)arguments.concurrency, sizeof *connections);
    for (long i = 0; i < arguments.concurrency; i++) connections[i].fd = -1;
    prepare_upload(connections);
    prepare_request(arguments.url);
    if (!strncmp(arguments.url, "https:", 6)) prepare_tls();
    if (arguments.pipeline) prepare_pipeline(request, request_length);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    statistics_init(&statistics, arguments.total > arguments.warm ? arguments.total : arguments.warm);
    if (arguments.idle) {
        rest(connections);
        return 0;
    }
    if (arguments.warm) run(arguments.warm, connections);
    statistics_begin(&statistics);
    run(arguments.total, connections);
    statistics_report(&statistics, "ceil");
    return 0;
}
