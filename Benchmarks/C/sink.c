// A server that reads any request, drops its body (Content-Length or chunked) and answers with 40 bytes.
// One thread, plain text and TLS 1.3. Port 0 means any; the ports are printed, once it listens.
//
// usage: sink PORT TLS_PORT CERTIFICATE KEY
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS = 256, BUFFER = 262144, LARGEST_HEAD = 8192 };

typedef enum { HEAD, BODY, CHUNK_SIZE, CHUNK, TRAILER } state_t;

typedef struct {
    int fd, listens, secure;
    SSL *ssl;
    state_t state;
    long long left;  // of the body, or of a chunk and its line break
    int line_length; // of the chunk size or trailer line being read
    char head[LARGEST_HEAD];
    size_t head_length;
} connection_t;

static char buffer[BUFFER];
static SSL_CTX *context;
static int epoll;

static const char answer[] = "HTTP/1.1 200 OK\r\nServer: sink/1.0\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n"
                             "Content-Type: application/json\r\nContent-Length: 40\r\nConnection: keep-alive\r\n\r\n"
                             "{\"id\":123456,\"name\":\"01234567890123456\"}";

static void end(const char *why) {
    perror(why);
    ERR_print_errors_fp(stderr);
    exit(1);
}

// MARK: Bytes

static void send_all(connection_t *c, const char *bytes, size_t n) {
    ssize_t sent = c->ssl ? SSL_write(c->ssl, bytes, (int)n) : send(c->fd, bytes, n, MSG_NOSIGNAL);
    if (sent != (ssize_t)n) fprintf(stderr, "sink: an answer did not fit into the socket\n");
}

// 0: nothing more for now; below 0: the end.
static ssize_t receive(connection_t *c) {
    if (!c->ssl) {
        ssize_t n = recv(c->fd, buffer, BUFFER, 0);
        return n > 0 ? n : n < 0 && errno == EAGAIN ? 0 : -1;
    }
    int n = SSL_read(c->ssl, buffer, BUFFER);
    if (n > 0) return n;
    int error = SSL_get_error(c->ssl, n);
    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? 0 : -1;
}

// MARK: Requests. Each step takes what it can of n bytes and returns how many.

static void finish_request(connection_t *c) {
    c->state = HEAD;
    c->head_length = 0;
    send_all(c, answer, sizeof answer - 1);
}

static void begin_body(connection_t *c) {
    char *length = strcasestr(c->head, "\r\ncontent-length:");
    c->left = length ? atoll(length + 17) : 0;
    c->line_length = 0;
    if (strcasestr(c->head, "\r\nexpect: 100")) send_all(c, "HTTP/1.1 100 Continue\r\n\r\n", 25);
    if (strcasestr(c->head, "\r\ntransfer-encoding: chunked")) {
        c->left = 0;
        c->state = CHUNK_SIZE;
    } else if (c->left > 0)
        c->state = BODY;
    else
        finish_request(c);
}

static size_t take_head(connection_t *c, const char *bytes, size_t n) {
    size_t room = LARGEST_HEAD - 1 - c->head_length, before = c->head_length, taken = n < room ? n : room;
    memcpy(c->head + before, bytes, taken);
    c->head[before + taken] = 0;
    char *blank = strstr(c->head + (before > 3 ? before - 3 : 0), "\r\n\r\n");
    if (!blank) {
        c->head_length = before + taken;
        return taken;
    }
    blank[2] = 0;
    begin_body(c);
    return (size_t)(blank + 4 - c->head) - before;
}

static size_t take_body(connection_t *c, size_t n) {
    size_t taken = (long long)n < c->left ? n : (size_t)c->left;
    c->left -= (long long)taken;
    if (c->left == 0) finish_request(c);
    return taken;
}

static size_t take_chunk(connection_t *c, size_t n) {
    size_t taken = (long long)n < c->left ? n : (size_t)c->left;
    c->left -= (long long)taken;
    if (c->left == 0) c->state = CHUNK_SIZE;
    return taken;
}

static int hexadecimal(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    digit |= 32;
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static size_t take_chunk_size(connection_t *c, const char *bytes) {
    int digit = hexadecimal(*bytes);
    if (digit >= 0) c->left = c->left * 16 + digit;
    if (*bytes != '\n') return 1;
    c->state = c->left > 0 ? CHUNK : TRAILER;
    if (c->left > 0) c->left += 2;
    return 1;
}

static size_t take_trailer(connection_t *c, const char *bytes) {
    if (*bytes != '\n') c->line_length += *bytes != '\r';
    else if (c->line_length == 0) finish_request(c);
    else c->line_length = 0;
    return 1;
}

static size_t take(connection_t *c, const char *bytes, size_t n) {
    switch (c->state) {
    case HEAD: return take_head(c, bytes, n);
    case BODY: return take_body(c, n);
    case CHUNK: return take_chunk(c, n);
    case CHUNK_SIZE: return take_chunk_size(c, bytes);
    case TRAILER: return take_trailer(c, bytes);
    }
    return n;
}

// MARK: Connections

static void serve(connection_t *c) {
    ssize_t n;
    while ((n = receive(c)) > 0) {
        for (size_t used = 0; used < (size_t)n;) {
            size_t taken = take(c, buffer + used, (size_t)n - used);
            if (!taken) end("sink: a head too large");
            used += taken;
        }
        if (!c->ssl && n < BUFFER) return; // level-triggered: what comes later is told again
    }
    if (n == 0) return;
    if (c->ssl) SSL_free(c->ssl);
    close(c->fd);
    free(c);
}

static void watch(connection_t *c) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void accept_all(const connection_t *listener) {
    int fd, one = 1;
    while ((fd = accept4(listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        connection_t *c = calloc(1, sizeof *c);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        c->fd = fd;
        if (listener->secure) {
            c->ssl = SSL_new(context);
            SSL_set_fd(c->ssl, fd);
            SSL_set_accept_state(c->ssl);
        }
        watch(c);
    }
}

static int listen_on(connection_t *listener, const char *port) {
    int one = 1;
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)atoi(port)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    listener->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    listener->listens = 1;
    setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener->fd, (struct sockaddr *)&address, size) || listen(listener->fd, 4096)) end("sink: listen");
    getsockname(listener->fd, (struct sockaddr *)&address, &size);
    watch(listener);
    return ntohs(address.sin_port);
}

static void prepare_tls(const char *certificate, const char *key) {
    context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, "TLS_AES_256_GCM_SHA384");
    SSL_CTX_set1_groups_list(context, "X25519");
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1)
        end("sink: certificate and key");
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: sink PORT TLS_PORT CERTIFICATE KEY\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    prepare_tls(argv[3], argv[4]);
    connection_t plain = {.secure = 0}, secure = {.secure = 1};
    int port = listen_on(&plain, argv[1]), secure_port = listen_on(&secure, argv[2]);
    printf("%d %d\n", port, secure_port);
    fflush(stdout);
    for (;;) {
        struct epoll_event events[EVENTS];
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            connection_t *c = events[i].data.ptr;
            if (c->listens) accept_all(c);
            else serve(c);
        }
    }
}
