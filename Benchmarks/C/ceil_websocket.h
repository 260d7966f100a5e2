// WebSockets: messages that the server sends back, one under way on each connection. Each is masked with a
// fresh key, piece by piece, and received where a program would have it.
#pragma once
#include "ceil_connection.h"
#include "websocket.h"
#include <sys/random.h>

// A piece fits into one segment of the loopback interface, whose MTU is 64 KiB. One of 64 KiB makes two segments, the
// second of some bytes: a message of 1 MiB took a tenth more CPU with these.
enum { WS_EVENTS = 256, WS_KEYS = 1024, WS_PIECE = 65000 };

typedef struct {
    connection_t connection; // first: the events name it
    uint32_t key;
    unsigned char *frame, *back; // the piece that is sent, and all that comes back
    size_t masked;               // of the message
    size_t length, sent, have;
} websocket_t;

static struct {
    websocket_t *all;
    unsigned char *message, head[LONGEST_FRAME_HEAD]; // the head that is expected back
    size_t size, head_length;
    long started, finished, target;
    int only_opens, compares;
} ws;

// MARK: Sending

static uint32_t fresh_key(void) {
    static uint32_t keys[WS_KEYS];
    static size_t left;
    if (!left) {
        for (size_t have = 0; have < sizeof keys;) {
            ssize_t n = getrandom((char *)keys + have, sizeof keys - have, 0);
            if (n < 0) fail_with_errno("getrandom");
            have += (size_t)n;
        }
        left = WS_KEYS;
    }
    return keys[--left];
}

// Masks the next piece of the message behind a head of so many bytes.
static void mask_piece(websocket_t *w, size_t head) {
    size_t left = ws.size - w->masked, n = left < WS_PIECE ? left : WS_PIECE;
    mask_bytes(w->frame + head, ws.message + w->masked, n, w->key, w->masked);
    w->masked += n;
    w->length = head + n;
    w->sent = 0;
}

static void begin_message(websocket_t *w) {
    if (!w->frame) {
        w->frame = malloc(LONGEST_FRAME_HEAD + (ws.size < WS_PIECE ? ws.size : WS_PIECE));
        w->back = malloc(LONGEST_FRAME_HEAD + ws.size);
    }
    w->key = fresh_key();
    size_t head = write_frame_head(w->frame, FINAL | BINARY, MASKED, ws.size);
    memcpy(w->frame + head, &w->key, MASK);
    w->masked = w->have = 0;
    mask_piece(w, head + MASK);
}

static void send_message(websocket_t *w) {
    while (w->sent < w->length) {
        size_t n = write_some(&w->connection, (char *)w->frame + w->sent, w->length - w->sent);
        if (!n) return;
        w->sent += n;
        if (w->sent == w->length && w->masked < ws.size) mask_piece(w, 0);
    }
}

// MARK: Receiving

// 1 when the message is whole.
static int receive_message(websocket_t *w) {
    size_t all = ws.head_length + ws.size;
    while (w->have < all) {
        size_t n = read_some(&w->connection, (char *)w->back + w->have, all - w->have);
        if (!n) return 0;
        w->have += n;
    }
    if (memcmp(w->back, ws.head, ws.head_length)) fail("not the frame that was sent");
    if (ws.compares && memcmp(w->back + ws.head_length, ws.message, ws.size)) fail("not the message that was sent");
    return 1;
}

// MARK: Steps

static void next_message(websocket_t *w) {
    w->connection.state = PARKED;
    if (ws.started == ws.target) return;
    ws.started++;
    w->connection.began_ns = now_ns();
    if (w->connection.fd < 0) {
        open_connection(&w->connection);
        return;
    }
    if (ws.only_opens) {
        ws.finished++;
        return;
    }
    w->connection.state = BODY;
    begin_message(w);
    send_message(w);
}

static void ask(websocket_t *w) {
    check_connected(&w->connection);
    if (write_some(&w->connection, request, request_length) != request_length) fail("no room for a request");
    w->connection.state = HEAD;
}

static void read_agreement(websocket_t *w) {
    char bytes[2048];
    size_t n = read_some(&w->connection, bytes, sizeof bytes);
    if (!n) return;
    if (whole_head(bytes, n) != n) fail("an agreement in pieces, or with more behind it");
    if (ws.only_opens) {
        ws.finished++;
        next_message(w);
        return;
    }
    w->connection.state = BODY;
    begin_message(w);
    send_message(w);
}

static void work_on_message(websocket_t *w) {
    send_message(w);
    if (!receive_message(w)) return;
    statistics_add(&statistics, now_ns() - w->connection.began_ns, ws.size);
    ws.finished++;
    next_message(w);
}

static void step_websocket(websocket_t *w) {
    switch (w->connection.state) {
    case CONNECTING: ask(w); break;
    case HEAD: read_agreement(w); break;
    case BODY: work_on_message(w); break;
    default: break;
    }
}

// MARK: The run

static void run_messages(long count) {
    struct epoll_event events[WS_EVENTS];
    ws.target = count;
    ws.started = ws.finished = 0;
    for (long i = 0; i < arguments.concurrency; i++) next_message(&ws.all[i]);
    while (ws.finished < ws.target) {
        int found = epoll_wait(epoll, events, WS_EVENTS, -1);
        for (int i = 0; i < found; i++) step_websocket(events[i].data.ptr);
    }
}

static void rest_open(void) {
    run_messages(1);
    ws.only_opens = 1;
    rest_t before = at_rest();
    run_messages(arguments.concurrency);
    rest_t first = at_rest();
    ws.only_opens = 0;
    run_messages(arguments.concurrency);
    report_rest("ceil", before, first, at_rest());
}

static void prepare_messages(void) {
    ws.size = (size_t)arguments.message;
    ws.message = malloc(ws.size);
    for (size_t i = 0; i < ws.size; i++) ws.message[i] = (unsigned char)(i * 31 + (i >> 8));
    ws.head_length = write_frame_head(ws.head, FINAL | BINARY, 0, ws.size);
    ws.all = calloc((size_t)arguments.concurrency, sizeof *ws.all);
    for (long i = 0; i < arguments.concurrency; i++) ws.all[i].connection.fd = -1;
    wanted_status = "101";
    write_request("GET", arguments.url,
                  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  "Sec-WebSocket-Key: AAECAwQFBgcICQoLDA0ODw==\r\n");
}

static int measure_messages(void) {
    if (strncmp(arguments.url, "ws:", 3)) refuse(&arguments, "plain WebSockets only: ", arguments.url);
    prepare_messages();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    statistics_init(&statistics, arguments.total > arguments.warm ? arguments.total : arguments.warm);
    if (arguments.idle) {
        rest_open();
        return 0;
    }
    ws.compares = 1; // in the warm-up
    if (arguments.warm) run_messages(arguments.warm);
    ws.compares = 0;
    statistics_begin(&statistics);
    run_messages(arguments.total);
    statistics_report(&statistics, "ceil");
    return 0;
}
