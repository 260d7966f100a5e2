// The physical limit: one thread, edge-triggered epoll, prebuilt request bytes, parses only Content-Length.
// No URL handling beyond host:port/path, no redirects, no header storage, no timeouts: nothing a real client
// could leave out is left in, so it bounds what a client on one epoll thread (with OpenSSL) can do.
#include "bench_common.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { EVENTS = 256, BUFFER = 262144, LARGEST_HEAD = 16384 };

typedef enum { CONNECTING, HANDSHAKE, SEND, HEAD, BODY, PARKED } state_t;

typedef struct {
    int fd;
    state_t state;
    SSL *ssl;
    size_t sent;
    uint64_t began_ns, body;
    int64_t left;
    char *head; // the beginning of a head that came in pieces
    size_t head_length;
} connection_t;

static options_t options;
static statistics_t statistics;
static int epoll;
static SSL_CTX *context; // NULL without TLS
static SSL_SESSION *session;
static struct sockaddr_in address;
static char request[2048];
static size_t request_length;
static char buffer[BUFFER + LARGEST_HEAD];
static long started, finished, target;

static void fail(const connection_t *c, const char *why) {
    fprintf(stderr, "ceil: %s in state %d, errno %d\n", why, (int)c->state, errno);
    ERR_print_errors_fp(stderr);
    exit(1);
}

// MARK: Bytes

static void open_connection(connection_t *c) {
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) fail(c, "socket");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0 && errno != EINPROGRESS) fail(c, "connect");
    c->state = CONNECTING;
    statistics.connections++;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
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
static size_t moved(const connection_t *c, ssize_t n, const char *why) {
    if (n > 0) return (size_t)n;
    if (c->ssl) {
        int error = SSL_get_error(c->ssl, (int)n);
        if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return 0;
    } else if (n < 0 && errno == EAGAIN)
        return 0;
    fail(c, why);
    return 0;
}

static size_t read_some(connection_t *c, char *to, size_t n) {
    return moved(c, c->ssl ? SSL_read(c->ssl, to, (int)n) : recv(c->fd, to, n, 0), "read");
}

static size_t write_some(connection_t *c, const char *from, size_t n) {
    return moved(c, c->ssl ? SSL_write(c->ssl, from, (int)n) : send(c->fd, from, n, MSG_NOSIGNAL), "write");
}

static int64_t content_length(const char *head, size_t n) {
    for (const char *line = head, *end = head + n; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) break;
        if ((line[0] | 32) == 'c' && newline - line > 16 && !strncasecmp(line, "content-length:", 15))
            return atoll(line + 15);
        line = newline + 1;
    }
    return 0;
}

// MARK: Steps of a connection. Each returns 0 when it has to wait for the socket.

static int finish_connecting(connection_t *c) {
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        errno = error;
        fail(c, "connect");
    }
    c->state = SEND;
    if (!context) return 1;
    c->ssl = SSL_new(context);
    SSL_set_fd(c->ssl, c->fd);
    if (options.resume && session) SSL_set_session(c->ssl, session);
    SSL_set_connect_state(c->ssl);
    c->state = HANDSHAKE;
    return 1;
}

static int handshake(connection_t *c) {
    if (!moved(c, SSL_do_handshake(c->ssl), "handshake")) return 0;
    c->state = SEND;
    return 1;
}

static int send_request(connection_t *c) {
    while (c->sent < request_length) {
        size_t n = write_some(c, request + c->sent, request_length - c->sent);
        if (!n) return 0;
        c->sent += n;
    }
    c->state = HEAD;
    return 0; // nothing can have arrived yet; the edge will tell
}

static int read_head(connection_t *c) {
    size_t have = read_some(c, buffer, BUFFER);
    if (!have) return 0;
    if (c->head_length) { // rare
        memmove(buffer + c->head_length, buffer, have);
        memcpy(buffer, c->head, c->head_length);
        have += c->head_length;
    }
    char *end = memmem(buffer, have, "\r\n\r\n", 4);
    if (!end) {
        if (have > LARGEST_HEAD) fail(c, "head too large");
        if (!c->head) c->head = malloc(LARGEST_HEAD);
        memcpy(c->head, buffer, have);
        c->head_length = have;
        return 1;
    }
    size_t head = (size_t)(end + 4 - buffer);
    if (memcmp(buffer + 9, "200", 3)) fail(c, "status is not 200");
    c->head_length = 0;
    c->body = have - head;
    c->left = content_length(buffer, head) - (int64_t)c->body;
    if (c->left < 0) fail(c, "bytes beyond the body");
    c->state = BODY;
    return 1;
}

static void finish(connection_t *c);

static int read_body(connection_t *c) {
    while (c->left > 0) {
        size_t n = read_some(c, buffer, c->left < BUFFER ? (size_t)c->left : BUFFER);
        if (!n) return 0;
        c->left -= (int64_t)n;
        c->body += n;
    }
    finish(c);
    return 0;
}

static void step(connection_t *c) {
    static int (*const steps[])(connection_t *) = {
        [CONNECTING] = finish_connecting, [HANDSHAKE] = handshake, [SEND] = send_request,
        [HEAD] = read_head,               [BODY] = read_body,
    };
    while (c->state != PARKED && steps[c->state](c)) {}
}

static void start(connection_t *c) {
    c->state = PARKED;
    if (started == target) return;
    started++;
    c->sent = 0;
    c->began_ns = now_ns();
    if (c->fd < 0) {
        open_connection(c);
        return;
    }
    c->state = SEND;
    step(c);
}

static void finish(connection_t *c) {
    statistics_add(&statistics, now_ns() - c->began_ns, c->body);
    finished++;
    if (options.close_each) close_connection(c);
    start(c);
}

// MARK: The run

static void run(long requests, connection_t *connections) {
    struct epoll_event events[EVENTS];
    target = requests;
    started = finished = 0;
    for (long i = 0; i < options.concurrency; i++) start(&connections[i]);
    while (finished < target) {
        int count = epoll_wait(epoll, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            connection_t *c = events[i].data.ptr;
            int only_writable = !(events[i].events & ~(unsigned)EPOLLOUT);
            if (c->fd >= 0 && !(c->state == HEAD && only_writable)) step(c);
        }
    }
}

static int keep_session(SSL *ssl, SSL_SESSION *fresh) {
    (void)ssl;
    if (session) SSL_SESSION_free(session);
    session = fresh;
    return 1;
}

static void prepare_tls(void) {
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (options.ca) {
        if (!SSL_CTX_load_verify_locations(context, options.ca, NULL)) {
            fprintf(stderr, "ceil: cannot read certificates from %s\n", options.ca);
            exit(2);
        }
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    }
    if (options.resume) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    }
}

static void prepare_request(void) {
    char scheme[6], host[256], path[1024] = "/", ip[256];
    if (sscanf(options.url, "%5[a-z]://%255[^/]%1023s", scheme, host, path) < 2) {
        fprintf(stderr, "ceil: not a URL: %s\n", options.url);
        exit(2);
    }
    int port = strcmp(scheme, "https") ? 80 : 443;
    if (sscanf(host, "%255[^:]:%d", ip, &port) < 1 || inet_pton(AF_INET, ip, &address.sin_addr) != 1) {
        fprintf(stderr, "ceil: the host must be an IPv4 address: %s\n", host);
        exit(2);
    }
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    request_length =
        (size_t)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host);
    if (!strcmp(scheme, "https")) prepare_tls();
}

int main(int argc, char **argv) {
    parse_options(argc, argv, &options);
    prepare_request();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    connection_t *connections = calloc((size_t)options.concurrency, sizeof *connections);
    for (long i = 0; i < options.concurrency; i++) connections[i].fd = -1;
    statistics_init(&statistics, options.total > options.warm ? options.total : options.warm);
    if (options.warm) run(options.warm, connections);
    statistics_begin(&statistics);
    run(options.total, connections);
    statistics_report(&statistics, "ceil");
    return 0;
}
