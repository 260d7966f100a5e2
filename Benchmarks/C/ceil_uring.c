// The limit once more, with io_uring in place of epoll: one thread, prebuilt request bytes, plain HTTP only. All
// requests of a turn are sent, and the next responses waited for, in one system call; the kernel receives into buffers
// of ours for as long as a connection lives, without being asked again.
#include "ceil_http.h"
#include <liburing.h>

enum { LEAST_BUFFERS = 2, LARGEST_BUFFER = 1 << 18, SMALLEST_BUFFER = 1 << 10, BUFFER_MEMORY = 1 << 19 };
enum { MOST_ENTRIES = 4096, MOST_IN_FLIGHT = 32768 };

// What a completion is about, in the low bits of its user data, beside the connection.
typedef enum { CONNECT, SEND, RECEIVE, ABOUT = 7 } about_t;

typedef struct {
    int fd;
    int in_body;
    uint64_t began_ns, body;
    int64_t left;
    char *head; // the beginning of a head that came in pieces
    size_t head_length;
} connection_t;

static struct io_uring ring;
static connection_t *connections;
static long started, finished, target;

// MARK: Buffers, which the kernel fills in the order in which it gets them back

static struct io_uring_buf_ring *free_buffers;
static char *buffers;
static unsigned buffer_count = LEAST_BUFFERS, buffer_size = LARGEST_BUFFER;

static char *buffer_at(unsigned index) { return buffers + (size_t)index * buffer_size; }

static void give_back(unsigned index) {
    int mask = io_uring_buf_ring_mask(buffer_count);
    io_uring_buf_ring_add(free_buffers, buffer_at(index), buffer_size, (unsigned short)index, mask, 0);
    io_uring_buf_ring_advance(free_buffers, 1);
}

static void *pages(size_t n) {
    void *memory = NULL;
    if (posix_memalign(&memory, 4096, n)) fail("no memory for buffers");
    return memory;
}

// One for each request in flight, as few as the kernel can fill in a turn.
static void prepare_buffers(void) {
    while (buffer_count < arguments.concurrency) buffer_count *= 2;
    while (buffer_size > SMALLEST_BUFFER && (size_t)buffer_size * buffer_count > BUFFER_MEMORY) buffer_size /= 2;
    buffers = pages((size_t)buffer_count * buffer_size);
    free_buffers = pages(buffer_count * sizeof(struct io_uring_buf));
    struct io_uring_buf_reg registration = {.ring_addr = (uintptr_t)free_buffers, .ring_entries = buffer_count};
    int error = io_uring_register_buf_ring(&ring, &registration, 0);
    if (error) refuse(&arguments, "this kernel's io_uring has no rings of buffers: ", strerror(-error));
    io_uring_buf_ring_init(free_buffers);
    for (unsigned i = 0; i < buffer_count; i++) give_back(i);
}

// MARK: What the kernel is asked to do

static struct io_uring_sqe *entry(void) {
    struct io_uring_sqe *entry = io_uring_get_sqe(&ring);
    if (entry) return entry;
    io_uring_submit(&ring);
    return io_uring_get_sqe(&ring);
}

static int place_of(const connection_t *c) { return (int)(c - connections); }

// The sockets are registered, so that the kernel need not look each of them up each time.
static void mark(struct io_uring_sqe *entry, connection_t *c, about_t about, unsigned flags) {
    io_uring_sqe_set_flags(entry, IOSQE_FIXED_FILE | flags);
    io_uring_sqe_set_data64(entry, (uintptr_t)c | about);
}

static void open_connection(connection_t *c) {
    int one = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0) fail_with_errno("socket");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (io_uring_register_files_update(&ring, (unsigned)place_of(c), &c->fd, 1) != 1) fail("cannot register a socket");
    struct io_uring_sqe *asked = entry();
    io_uring_prep_connect(asked, place_of(c), (struct sockaddr *)&address, sizeof address);
    mark(asked, c, CONNECT, 0);
    statistics.connections++;
}

// A request that was sent is not worth a completion: its response says so.
static void send_request(connection_t *c) {
    struct io_uring_sqe *asked = entry();
    io_uring_prep_send(asked, place_of(c), request, request_length, MSG_NOSIGNAL | MSG_WAITALL);
    mark(asked, c, SEND, IOSQE_CQE_SKIP_SUCCESS);
}

static void keep_receiving(connection_t *c) {
    struct io_uring_sqe *asked = entry();
    io_uring_prep_recv_multishot(asked, place_of(c), NULL, 0, 0);
    asked->ioprio |= IORING_RECVSEND_POLL_FIRST;
    mark(asked, c, RECEIVE, IOSQE_BUFFER_SELECT);
}

// MARK: Requests and responses

static void start(connection_t *c) {
    if (started == target) return;
    started++;
    c->in_body = 0;
    c->body = 0;
    c->began_ns = now_ns();
    open_out();
    if (c->fd < 0) open_connection(c);
    else send_request(c);
}

static void finish(connection_t *c) {
    if (out >= 0) close(out);
    out = -1;
    statistics_add(&statistics, now_ns() - c->began_ns, c->body);
    finished++;
    start(c);
}

static void take_body(connection_t *c, const char *bytes, size_t n) {
    if (out >= 0) write_to_out(bytes, n);
    c->body += n;
    c->left -= (int64_t)n;
    if (c->left < 0) fail("bytes beyond the body");
    if (c->left == 0) finish(c);
}

static void take_head(connection_t *c, const char *bytes, size_t n) {
    size_t before = c->head_length;
    if (before) { // rare
        memcpy(c->head + before, bytes, n);
        bytes = c->head;
        n += before;
    }
    size_t head = whole_head(bytes, n);
    if (!head) {
        if (n > LARGEST_HEAD) fail("head too large");
        if (!c->head) c->head = malloc(LARGEST_HEAD + LARGEST_BUFFER);
        if (!before) memcpy(c->head, bytes, n);
        c->head_length = n;
        return;
    }
    c->head_length = 0;
    c->left = content_length(bytes, head);
    if (c->left < 0) refuse(&arguments, "a body without a Content-Length is for ceil", "");
    c->in_body = 1;
    take_body(c, bytes + head, n - head);
}

// MARK: Completions

static void connected(connection_t *c, int result) {
    if (result < 0) {
        errno = -result;
        fail_with_errno("connect");
    }
    keep_receiving(c);
    send_request(c);
}

static void received(connection_t *c, const struct io_uring_cqe *completion) {
    int n = completion->res;
    if (n == 0) fail("the server closed the connection");
    if (n == -EINVAL) refuse(&arguments, "this kernel's io_uring cannot receive more than once", "");
    if (n < 0 && n != -ENOBUFS) {
        errno = -n;
        fail_with_errno("receive");
    }
    if (n > 0) {
        unsigned index = completion->flags >> IORING_CQE_BUFFER_SHIFT;
        if (c->in_body) take_body(c, buffer_at(index), (size_t)n);
        else take_head(c, buffer_at(index), (size_t)n);
        give_back(index);
    }
    if (!(completion->flags & IORING_CQE_F_MORE)) keep_receiving(c);
}

static void take(const struct io_uring_cqe *completion) {
    connection_t *c = (connection_t *)(uintptr_t)(completion->user_data & ~(uint64_t)ABOUT);
    switch ((about_t)(completion->user_data & ABOUT)) {
        case CONNECT: connected(c, completion->res); break;
        case RECEIVE: received(c, completion); break;
        default:
            errno = completion->res < 0 ? -completion->res : EPIPE;
            fail_with_errno("send");
    }
}

static void turn(void) {
    struct io_uring_cqe *completion;
    unsigned place, count = 0;
    int result = io_uring_submit_and_wait(&ring, 1);
    if (result < 0 && result != -EINTR) {
        errno = -result;
        fail_with_errno("io_uring_enter");
    }
    io_uring_for_each_cqe(&ring, place, completion) {
        take(completion);
        count++;
    }
    io_uring_cq_advance(&ring, count);
}

// MARK: The run

static void run(long requests) {
    target = requests;
    started = finished = 0;
    for (long i = 0; i < arguments.concurrency; i++) start(&connections[i]);
    while (finished < target) turn();
}

// From the best way of running to what every io_uring can.
static void open_ring(void) {
    static const struct {
        unsigned flags;
        const char *names;
    } ways[] = {
        {IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_COOP_TASKRUN,
         "SINGLE_ISSUER, DEFER_TASKRUN, COOP_TASKRUN"},
        {IORING_SETUP_COOP_TASKRUN, "COOP_TASKRUN"},
        {0, "none"},
    };
    unsigned entries = 64;
    while (entries < 2 * arguments.concurrency && entries < MOST_ENTRIES) entries *= 2;
    int error = -EINVAL;
    for (size_t i = 0; error == -EINVAL && i < sizeof ways / sizeof *ways; i++) {
        struct io_uring_params parameters = {.flags = ways[i].flags | IORING_SETUP_CQSIZE};
        for (parameters.cq_entries = entries; parameters.cq_entries < 2 * arguments.concurrency;)
            parameters.cq_entries *= 2;
        error = io_uring_queue_init_params(entries, &ring, &parameters);
        if (!error) fprintf(stderr, "%s: flags of the ring: %s\n", arguments.program, ways[i].names);
    }
    if (error) refuse(&arguments, "io_uring is not permitted or not there: ", strerror(-error));
}

static void prepare_ring(void) {
    open_ring();
    io_uring_register_ring_fd(&ring); // only a saving
    int error = io_uring_register_files_sparse(&ring, (unsigned)arguments.concurrency);
    if (error) refuse(&arguments, "io_uring registers no sockets: ", strerror(-error));
    prepare_buffers();
}

static void refuse_what_is_for_ceil(void) {
    if (!strncmp(arguments.url, "https:", 6)) refuse(&arguments, "plain HTTP only: ", arguments.url);
    if (arguments.upload || arguments.upload_stream || arguments.post || arguments.coded || arguments.idle || arguments.pipeline || arguments.close_each ||
        arguments.message)
        refuse(&arguments, "GETs on kept-alive connections only: see ceil", "");
    if (arguments.style) refuse(&arguments, "there is one style only: remove --style ", arguments.style);
    if (arguments.concurrency > MOST_IN_FLIGHT) refuse(&arguments, "at most 32768 requests in flight", "");
}

// Threads of the kernel that work for the ring are threads of this process. One thread is what is measured.
static void expect_no_workers(void) {
    if (kilobytes("/proc/self/status", "Threads:") != 1) fail("a worker of the kernel did some of the work");
}

int main(int argc, char **argv) {
    arguments = parse_arguments(argc, argv);
    refuse_what_is_for_ceil();
    allow_many_descriptors();
    connections = calloc((size_t)arguments.concurrency, sizeof *connections);
    for (long i = 0; i < arguments.concurrency; i++) connections[i].fd = -1;
    write_request("GET", arguments.url, "");
    prepare_ring();
    statistics_init(&statistics, arguments.total > arguments.warm ? arguments.total : arguments.warm);
    if (arguments.warm) run(arguments.warm);
    statistics_begin(&statistics);
    run(arguments.total);
    statistics_report(&statistics, "ceil-uring");
    expect_no_workers();
    return 0;
}
