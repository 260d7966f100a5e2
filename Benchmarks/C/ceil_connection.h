// What ceil knows of a connection, and its bytes, plain or through OpenSSL.
#pragma once
#include "ceil_http.h"
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

typedef enum { CONNECTING, HANDSHAKE, SEND, SEND_BODY, HEAD, BODY, CHUNKS, PARKED } state_t;

typedef struct {
    int fd;
    state_t state;
    SSL *ssl;
    size_t sent;
    uint64_t began_ns, body;
    int64_t left;
    uint64_t tail; // the last bytes of a chunked body
    char *head; // the beginning of a head that came in pieces
    size_t head_length;
} connection_t;

static int epoll;
static SSL_CTX *context; // NULL without TLS

static void fail_with_tls_error(const connection_t *c, const char *call) {
    long verified = SSL_get_verify_result(c->ssl);
    const char *reason = verified ? X509_verify_cert_error_string(verified) : "see OpenSSL's words";
    fprintf(stderr, "%s: %s: %s\n", arguments.program, call, reason);
    ERR_print_errors_fp(stderr);
    exit(1);
}

static void open_connection(connection_t *c) {
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) fail_with_errno("socket");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) fail_with_errno("connect");
    c->state = CONNECTING;
    statistics.connections++;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void check_connected(const connection_t *c) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (!error) return;
    errno = error;
    fail_with_errno("connect");
}

static void close_connection(connection_t *c) {
    if (c->ssl) {
        SSL_set_quiet_shutdown(c->ssl, 1);
        SSL_shutdown(c->ssl);
        SSL_free(c->ssl);
        c->ssl = NULL;
    }
    close(c->fd);
    c->fd = -1;
}

// Bytes moved, 0 when the socket would block; everything else is the end of the program.
static size_t moved(const connection_t *c, ssize_t n, const char *call) {
    if (n > 0) return (size_t)n;
    if (c->ssl) {
        int error = SSL_get_error(c->ssl, (int)n);
        if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return 0;
        fail_with_tls_error(c, call);
    }
    if (n == 0) fail("the server closed the connection");
    if (errno != EAGAIN) fail_with_errno(call);
    return 0;
}

static size_t read_some(connection_t *c, char *to, size_t n) {
    return moved(c, c->ssl ? SSL_read(c->ssl, to, (int)n) : recv(c->fd, to, n, 0), "read");
}

static size_t write_some(connection_t *c, const char *from, size_t n) {
    return moved(c, c->ssl ? SSL_write(c->ssl, from, (int)n) : send(c->fd, from, n, MSG_NOSIGNAL), "write");
}
