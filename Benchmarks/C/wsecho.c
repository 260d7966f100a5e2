// A server that opens a WebSocket for any request which asks for one, and sends every frame back as its bytes come:
// unmasked, in the buffer they were read into. It answers pings and Close frames, and checks next to nothing.
// One thread, plain text. Port 0 means any; the port is printed, once it listens.
//
// usage: wsecho PORT ADDRESS ...
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, BUFFER = 262144, LARGEST_HEAD = 8192, BACKLOG = 16384, MOST_UNSENT = 8 << 20 };

typedef struct {
    int fd, listens, opened, closes;
    char *request; // until the WebSocket is open
    size_t request_length;
    unsigned char head[LONGEST_FRAME_HEAD]; // of a frame, while part of it is missing
    size_t head_length;
    uint64_t left, position; // of the payload being read
    uint32_t key;
    int dropped;           // nothing of this frame is sent back
    unsigned char *unsent; // what did not fit into the socket
    size_t unsent_length, unsent_room;
    uint32_t events;
} connection_t;

static unsigned char room[LONGEST_FRAME_HEAD + BUFFER], *const buffer = room + LONGEST_FRAME_HEAD;
static int epoll;

static void end(const char *why) {
    perror(why);
    exit(1);
}

static void drop(connection_t *c) {
    close(c->fd);
    free(c->request);
    free(c->unsent);
    free(c);
}

// The other side has closed, and nothing that it may send matters any more.
static int is_over(const connection_t *c) { return c->closes && !c->left; }

// MARK: Sending. Each returns 0 when the connection is lost.

// What waits makes this wait for room in the socket, and too much of it stops the reading.
static void watch(connection_t *c) {
    uint32_t events = c->unsent_length ? EPOLLOUT : 0u;
    if (!is_over(c) && c->unsent_length <= MOST_UNSENT) events |= EPOLLIN;
    if (events == c->events) return;
    struct epoll_event event = {.events = c->events = events, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &event);
}

static void keep(connection_t *c, const unsigned char *bytes, size_t n) {
    if (c->unsent_length + n > c->unsent_room) {
        c->unsent_room = 2 * (c->unsent_length + n);
        c->unsent = realloc(c->unsent, c->unsent_room);
        if (!c->unsent) end("wsecho: realloc");
    }
    memcpy(c->unsent + c->unsent_length, bytes, n);
    c->unsent_length += n;
}

static int send_some(connection_t *c, const unsigned char *bytes, size_t n, size_t *sent) {
    ssize_t done = send(c->fd, bytes, n, MSG_NOSIGNAL);
    if (done < 0 && errno != EAGAIN) return 0;
    *sent = done < 0 ? 0 : (size_t)done;
    return 1;
}

static int send_bytes(connection_t *c, const unsigned char *bytes, size_t n) {
    size_t sent = 0;
    if (!n) return 1;
    if (!c->unsent_length && !send_some(c, bytes, n, &sent)) return 0;
    if (sent < n) keep(c, bytes + sent, n - sent);
    return 1;
}

static int send_unsent(connection_t *c) {
    size_t sent;
    if (!send_some(c, c->unsent, c->unsent_length, &sent)) return 0;
    c->unsent_length -= sent;
    memmove(c->unsent, c->unsent + sent, c->unsent_length);
    return 1;
}

// MARK: Opening

static int answer(connection_t *c) {
    char text[256], accept[64];
    if (!accept_key(c->request, accept)) return 0;
    int n = snprintf(text, sizeof text,
                     "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Accept: %s\r\n\r\n",
                     accept);
    return send_bytes(c, (unsigned char *)text, (size_t)n);
}

// How many bytes belong to the request; 0 for one that is refused.
static size_t take_request(connection_t *c, const unsigned char *bytes, size_t n) {
    if (!c->request) c->request = malloc(LARGEST_HEAD);
    size_t before = c->request_length, space = LARGEST_HEAD - 1 - before, taken = n < space ? n : space;
    memcpy(c->request + before, bytes, taken);
    c->request[before + taken] = 0;
    c->request_length += taken;
    char *blank = strstr(c->request + (before > 3 ? before - 3 : 0), "\r\n\r\n");
    if (!blank) return taken;
    blank[2] = 0;
    if (!answer(c)) return 0;
    taken = (size_t)(blank + 4 - c->request) - before;
    free(c->request);
    c->request = NULL;
    c->opened = 1;
    return taken;
}

// MARK: Frames

// Begins a frame, whose head stands at `head`; writes the head that goes back and returns its length.
static size_t begin_frame(connection_t *c, const unsigned char *head, size_t length, unsigned char *back) {
    unsigned char first = head[0], opcode = first & 0xF;
    memcpy(&c->key, head + length - MASK, MASK);
    c->left = payload_length(head);
    c->position = 0;
    c->dropped = opcode == PONG;
    c->closes = opcode == CLOSE;
    if (c->dropped) return 0;
    return write_frame_head(back, opcode == PING ? FINAL | PONG : first, 0, c->left);
}

// Turns frames into what goes back, in place: that is never longer. The first head that goes back ends where the first
// payload begins, so that no payload has to move when there is only one frame. Returns 0 when the connection is lost.
static int echo(connection_t *c, unsigned char *bytes, size_t n) {
    unsigned char *from = bytes, *const last = bytes + n, *begin = NULL, *to = NULL;
    while (from < last) {
        if (!c->left) {
            if (is_over(c)) break;
            size_t have = (size_t)(last - from), length = have < 2 ? 2 : frame_head_length(from);
            if (have < length) {
                memcpy(c->head, from, c->head_length = have);
                break;
            }
            if (!(from[1] & MASKED)) return 0;
            unsigned char back[LONGEST_FRAME_HEAD];
            size_t written = begin_frame(c, from, length, back);
            from += length;
            if (!begin) begin = to = from - written;
            memcpy(to, back, written);
            to += written;
        } else if (!begin)
            begin = to = from;
        size_t piece = (size_t)(last - from) < c->left ? (size_t)(last - from) : c->left;
        if (!c->dropped) {
            mask_bytes(to, from, piece, c->key, c->position);
            to += piece;
        }
        from += piece;
        c->position += piece;
        c->left -= piece;
    }
    return send_bytes(c, begin, (size_t)(to - begin));
}

// MARK: Connections

static int take(connection_t *c, unsigned char *bytes, size_t n) {
    if (!c->opened) {
        size_t taken = take_request(c, bytes, n);
        if (!taken) return 0;
        bytes += taken;
        n -= taken;
    }
    return c->opened ? echo(c, bytes, n) : 1;
}

static int serve(connection_t *c, uint32_t events) {
    if (events & EPOLLOUT && !send_unsent(c)) return 0;
    if (events & ~(uint32_t)EPOLLOUT) {
        size_t kept = c->head_length;
        ssize_t n = recv(c->fd, buffer, BUFFER, 0);
        if (n <= 0) return n < 0 && errno == EAGAIN;
        c->head_length = 0;
        memcpy(buffer - kept, c->head, kept);
        if (!take(c, buffer - kept, (size_t)n + kept)) return 0;
    }
    if (is_over(c) && !c->unsent_length) return 0;
    watch(c);
    return 1;
}

static void add(connection_t *c) {
    struct epoll_event event = {.events = c->events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void accept_all(const connection_t *listener) {
    int fd, one = 1;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        connection_t *c = calloc(1, sizeof *c);
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
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) end("wsecho: an address");
    listener->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    listener->listens = 1;
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener->fd, (struct sockaddr *)&address, size) || listen(listener->fd, BACKLOG)) end("wsecho: listen");
    getsockname(listener->fd, (struct sockaddr *)&address, &size);
    add(listener);
    return ntohs(address.sin_port);
}

static void allow_many_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: wsecho PORT ADDRESS ...\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    allow_many_descriptors();
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
            else if (!serve(c, events[i].events)) drop(c);
        }
    }
}
