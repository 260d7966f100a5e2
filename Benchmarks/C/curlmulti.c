// libcurl as event-driven programs embed it: one thread, curl_multi_socket_action driven by epoll. Each request in
// flight has an easy handle of its own, which serves one request after the other.
#define _GNU_SOURCE
#include "../Sources/CBench/include/CBench.h"
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/stat.h>

enum { EVENTS = 256 };

typedef struct {
    CURL *easy;
    uint64_t began_ns, bytes;
    int upload;         // the file being sent
    int64_t upload_left; // of a stream
    char *body;          // of --collect
    size_t room;
} slot_t;

static arguments_t arguments;
static statistics_t statistics;
static CURLM *multi;
static int epoll, out = -1;
static uint64_t deadline = UINT64_MAX;
static long started, finished, target;
static slot_t *slots;
static int64_t upload_length;
static struct curl_slist *fields;

static void fail(const char *what, const char *why) {
    fprintf(stderr, "curlmulti: %s: %s\n", what, why);
    exit(1);
}

// MARK: Bodies

// As libcurl's own examples do, but for room that grows by doubling.
static void keep_bytes(slot_t *slot, const char *bytes, size_t n) {
    if (slot->bytes + n > slot->room) {
        slot->room = slot->bytes + n > 2 * slot->room ? slot->bytes + n : 2 * slot->room;
        slot->body = realloc(slot->body, slot->room);
    }
    memcpy(slot->body + slot->bytes, bytes, n);
}

static size_t take_body(char *bytes, size_t one, size_t n, void *pointer) {
    slot_t *slot = pointer;
    if (arguments.collect) keep_bytes(slot, bytes, one * n);
    slot->bytes += one * n;
    if (out >= 0 && write(out, bytes, n) != (ssize_t)n) return 0;
    return n;
}

static size_t give_body(char *to, size_t one, size_t n, void *pointer) {
    static const char stream[65536];
    slot_t *slot = pointer;
    (void)one;
    if (arguments.upload) {
        ssize_t got = read(slot->upload, to, n);
        return got < 0 ? CURL_READFUNC_ABORT : (size_t)got;
    }
    if (n > sizeof stream) n = sizeof stream;
    if ((int64_t)n > slot->upload_left) n = (size_t)slot->upload_left;
    memcpy(to, stream, n);
    slot->upload_left -= (int64_t)n;
    return n;
}

static void rewind_upload(slot_t *slot) {
    slot->upload_left = upload_length;
    if (arguments.upload) lseek(slot->upload, 0, SEEK_SET);
}

static void open_out(void) {
    if (!arguments.out) return;
    out = open(arguments.out, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (out < 0) refuse(&arguments, "cannot write to ", arguments.out);
}

static void close_out(void) {
    if (out >= 0) close(out);
    out = -1;
}

// MARK: What libcurl asks of its surroundings

static int watch(CURL *easy, curl_socket_t fd, int what, void *user, void *known) {
    (void)easy, (void)user;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(epoll, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = fd};
    if (what & CURL_POLL_IN) event.events |= EPOLLIN;
    if (what & CURL_POLL_OUT) event.events |= EPOLLOUT;
    epoll_ctl(epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    if (!known) curl_multi_assign(multi, fd, &epoll);
    return 0;
}

static int set_timer(CURLM *of, long milliseconds, void *user) {
    (void)of, (void)user;
    deadline = milliseconds < 0 ? UINT64_MAX : now_ns() + (uint64_t)milliseconds * 1000000;
    return 0;
}

// MARK: Requests

static void start(slot_t *slot) {
    started++;
    slot->bytes = 0;
    rewind_upload(slot);
    slot->began_ns = now_ns();
    open_out();
    curl_multi_add_handle(multi, slot->easy);
}

static void finish(CURL *easy, CURLcode result) {
    slot_t *slot;
    long status = 0, connects = 0;
    char text[32];
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &slot);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
    snprintf(text, sizeof text, "status %ld", status);
    if (result || status != 200) fail("a request failed", result ? curl_easy_strerror(result) : text);
    close_out();
    statistics.connections += connects;
    statistics_add(&statistics, now_ns() - slot->began_ns, fields ? (uint64_t)upload_length : slot->bytes);
    free(slot->body);
    slot->body = NULL;
    slot->room = 0;
    finished++;
    curl_multi_remove_handle(multi, easy);
    if (started < target) start(slot);
}

static void finish_those_done(void) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)))
        if (message->msg == CURLMSG_DONE) finish(message->easy_handle, message->data.result);
}

static int milliseconds_left(void) {
    uint64_t now = now_ns();
    if (deadline == UINT64_MAX) return -1;
    return deadline <= now ? 0 : (int)((deadline - now + 999999) / 1000000);
}

static void turn(void) {
    struct epoll_event events[EVENTS];
    int running, count = epoll_wait(epoll, events, EVENTS, milliseconds_left());
    for (int i = 0; i < count; i++) {
        unsigned what = events[i].events;
        int action = (what & EPOLLIN ? CURL_CSELECT_IN : 0) | (what & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                     (what & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(multi, events[i].data.fd, action, &running);
    }
    if (deadline != UINT64_MAX && now_ns() >= deadline) {
        deadline = UINT64_MAX;
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    finish_those_done();
}

static void run(long requests) {
    target = requests;
    started = finished = 0;
    for (long i = 0; i < arguments.concurrency && started < target; i++) start(&slots[i]);
    while (finished < target) turn();
}

// MARK: Handles

static void prepare_upload_of(slot_t *slot) {
    CURL *easy = slot->easy;
    if (!fields) return;
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    if (arguments.post) {
        static char *body;
        if (!body) body = memset(malloc((size_t)arguments.post), 'x', (size_t)arguments.post);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)upload_length);
        return;
    }
    curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body);
    curl_easy_setopt(easy, CURLOPT_READDATA, slot);
    if (!arguments.upload) return;
    slot->upload = open(arguments.upload, O_RDONLY | O_CLOEXEC);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)upload_length);
}

static void make_handle(slot_t *slot, const char *url) {
    CURL *easy = slot->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    if (arguments.ca) {
        curl_easy_setopt(easy, CURLOPT_CAINFO, arguments.ca);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    if (arguments.close_each) {
        curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
        curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
    }
    if (arguments.coded) curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip");
    if (!arguments.resume) curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, 0L);
    prepare_upload_of(slot);
}

static void make_handles(const char *url) {
    for (long i = 0; i < arguments.concurrency; i++) make_handle(&slots[i], url);
}

static void free_handles(void) {
    for (long i = 0; i < arguments.concurrency; i++) curl_easy_cleanup(slots[i].easy);
}

static void prepare_upload(void) {
    struct stat status;
    if (!arguments.upload && !arguments.upload_stream && !arguments.post) return;
    upload_length = arguments.post ? arguments.post : arguments.upload_stream;
    if (arguments.upload) {
        if (stat(arguments.upload, &status)) refuse(&arguments, "cannot read ", arguments.upload);
        upload_length = status.st_size;
    }
    fields = curl_slist_append(NULL, "Expect:");
    if (arguments.upload_stream) fields = curl_slist_append(fields, "Transfer-Encoding: chunked");
}

// MARK: The run

// The connections stay in the cache of the multi handle; easy handles need not be kept for them.
static rest_t rest_after(long requests, const char *url) {
    make_handles(url);
    run(requests);
    free_handles();
    return at_rest();
}

static void rest(void) {
    rest_t before = rest_after(1, quick_url(&arguments));
    rest_t first = rest_after(arguments.concurrency, arguments.url);
    report_rest("curlmulti", before, first, rest_after(arguments.concurrency, arguments.url));
}

static void prepare_multi(void) {
    curl_global_init(CURL_GLOBAL_ALL);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, watch);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, set_timer);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_NOTHING);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, arguments.concurrency + 16);
    slots = calloc((size_t)arguments.concurrency, sizeof *slots);
}

int main(int argc, char **argv) {
    arguments = parse_arguments(argc, argv);
    if (arguments.style) refuse(&arguments, "there is one style only: remove --style ", arguments.style);
    if (arguments.pipeline) refuse(&arguments, "libcurl no longer pipelines HTTP/1.1: leave --pipeline away", "");
    if (arguments.message) refuse(&arguments, "WebSockets are measured with others: leave --message away", "");
    if (arguments.pins) refuse(&arguments, "pins are measured with ceil and afbench only: leave --pins away", "");
    allow_many_descriptors();
    prepare_upload();
    prepare_multi();
    statistics_init(&statistics, arguments.total > arguments.warm ? arguments.total : arguments.warm);
    if (arguments.idle) {
        rest();
        return 0;
    }
    make_handles(arguments.url);
    if (arguments.warm) run(arguments.warm);
    statistics_begin(&statistics);
    run(arguments.total);
    statistics_report(&statistics, "curlmulti");
    return 0;
}
