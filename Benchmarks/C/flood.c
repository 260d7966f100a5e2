// A server with three floods, and a small answer for those who ask beside them. One thread, plain text: between two
// pieces of a flood it serves all others. Port 0 means any; the port is printed, once it listens.
//
//   /small      194 bytes in all, as nginx sends them
//   /chunks     a body without end in chunks of one byte
//   /fragments  a WebSocket with one message without end, in empty fragments
//   /pings      a WebSocket with pings without payload; it drops what comes back
//
// usage: flood PORT ADDRESS ...
#define _GNU_SOURCE
#include "accept_key.h"
#include "websocket.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 64, LARGEST_HEAD = 8192, PIECE = 65536, CHUNK = 6, EMPTY_FRAME = 2 };

typedef struct {
    size_t unit; // of this many bytes the piece is made, again and again
    unsigned char bytes[PIECE];
} flood_t;

typedef struct {
    int fd, listens;
    const flood_t *flood; // nil until one is asked for
    size_t offset;        // into a unit of the flood
    size_t length;        // of the request so far
    char request[LARGEST_HEAD];
} connection_t;

static flood_t chunks, fragments, pings;
static int epoll;

static void end(const char *why) {
    perror(why);
    exit(1);
}

static void fill(flood_t *flood, const void *unit, size_t size) {
    flood->unit = size;
    for (size_t i = 0; i < PIECE; i++) flood->bytes[i] = ((const unsigned char *)unit)[i % size];
}

// MARK: Answers. Each returns 0 when the connection is lost.

static int send_all(int fd, const void *bytes, size_t n) { return send(fd, bytes, n, MSG_NOSIGNAL) == (ssize_t)n; }

static int answer_small(int fd) {
    static const char body[] = "{\"id\": 1, \"name\": \"benchmark\", \"n\": 0}\n";
    char text[256];
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 200 OK\r\nServer: flood\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
                     "Content-Type: application/json\r\nContent-Length: %zu\r\nConnection: keep-alive\r\n\r\n%s",
                     sizeof body - 1, body);
    return send_all(fd, text, (size_t)n);
}

static int begin(connection_t *c, const flood_t *flood) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
    c->flood = flood;
    return epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &event) == 0;
}

static int begin_chunks(connection_t *c) {
    static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    return send_all(c->fd, head, sizeof head - 1) && begin(c, &chunks);
}

static int begin_frames(connection_t *c, const flood_t *flood) {
    char text[256], accept[64];
    if (!accept_key(c->request, accept)) return 0;
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Accept: %s\r\n\r\n",
                     accept);
    if (!send_all(c->fd, text, (size_t)n)) return 0;
    static const unsigned char first[EMPTY_FRAME] = {BINARY, 0}; // the others go on with it
    if (flood == &fragments && !send_all(c->fd, first, sizeof first)) return 0;
    return begin(c, flood);
}

static int answer(connection_t *c) {
    if (!strncmp(c->request, "GET /small ", 11)) return answer_small(c->fd);
    if (!strncmp(c->request, "GET /chunks ", 12)) return begin_chunks(c);
    if (!strncmp(c->request, "GET /fragments ", 15)) return begin_frames(c, &fragments);
    if (!strncmp(c->request, "GET /pings ", 11)) return begin_frames(c, &pings);
    return 0;
}

// MARK: Connections

static int receive(connection_t *c) {
    char dropped[PIECE];
    if (c->flood) {
        ssize_t n = recv(c->fd, dropped, sizeof dropped, 0);
        return n > 0 || (n < 0 && errno == EAGAIN);
    }
    ssize_t n = recv(c->fd, c->request + c->length, LARGEST_HEAD - 1 - c->length, 0);
    if (n <= 0) return n < 0 && errno == EAGAIN;
    c->length += (size_t)n;
    c->request[c->length] = 0;
    if (!strstr(c->request, "\r\n\r\n")) return c->length < LARGEST_HEAD - 1;
    c->length = 0;
    return answer(c);
}

static int go_on(connection_t *c) {
    ssize_t n = send(c->fd, c->flood->bytes + c->offset, PIECE - c->flood->unit, MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN;
    c->offset = (c->offset + (size_t)n) % c->flood->unit;
    return 1;
}

static int serve(connection_t *c, uint32_t events) {
    if (events & ~(uint32_t)EPOLLOUT && !receive(c)) return 0;
    return !(events & EPOLLOUT && c->flood) || go_on(c);
}

static void add(connection_t *c) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void accept_all(const connection_t *listener) {
    int fd, one = 1;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        connection_t *c = calloc(1, sizeof *c);
        if (!c) end("flood: calloc");
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        c->fd = fd;
        add(c);
    }
}

// The port, which the first address chooses for all.
static uint16_t listen_on(const char *host, uint16_t port) {
    int one = 1;
    connection_t *listener = calloc(1, sizeof *listener);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t size = sizeof address;
    if (!listener || inet_pton(AF_INET, host, &address.sin_addr) != 1) end("flood: an address");
    listener->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    listener->listens = 1;
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener->fd, (struct sockaddr *)&address, size) || listen(listener->fd, SOMAXCONN)) end("flood: listen");
    getsockname(listener->fd, (struct sockaddr *)&address, &size);
    add(listener);
    return ntohs(address.sin_port);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: flood PORT ADDRESS ...\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    fill(&chunks, "1\r\nx\r\n", CHUNK);
    fill(&fragments, (unsigned char[]){0, 0}, EMPTY_FRAME);
    fill(&pings, (unsigned char[]){FINAL | PING, 0}, EMPTY_FRAME);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    uint16_t port = (uint16_t)atoi(argv[1]);
    for (int i = 2; i < argc; i++) port = listen_on(argv[i], port);
    printf("%d\n", port);
    fflush(stdout);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            connection_t *c = events[i].data.ptr;
            if (c->listens) accept_all(c);
            else if (!serve(c, events[i].events)) {
                close(c->fd);
                free(c);
            }
        }
    }
}
