#define _GNU_SOURCE 1
#include "CAFLinux.h"
#include "Perform.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// MARK: Fault injection

_Atomic(caf_hook) caf_current_hook;

void caf_set_hook(caf_hook hook) { atomic_store_explicit(&caf_current_hook, hook, memory_order_release); }

// MARK: Sockets

int caf_socket_stream(int family) {
    PERFORM(CAF_CALL_SOCKET, -1, 0, socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    return (int)result;
}

int caf_connect(int descriptor, const struct sockaddr *address, socklen_t length) {
    caf_intercepted_call call = {.call = CAF_CALL_CONNECT, .descriptor = descriptor};
    if (intercepted(&call) && call.result != -EINTR) return (int)call.result;
    if (connect(descriptor, address, length) == 0) return 0;
    // An interrupted connect goes on in the background, like one in progress.
    return errno == EINTR ? -EINPROGRESS : -errno;
}

int caf_take_socket_error(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    PERFORM(CAF_CALL_GETSOCKOPT, descriptor, 0, getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length));
    return result < 0 ? (int)result : -error;
}

int caf_local_address(int descriptor, struct sockaddr_storage *address, socklen_t *length) {
    PERFORM(CAF_CALL_GETSOCKNAME, descriptor, 0, getsockname(descriptor, (struct sockaddr *)address, length));
    return (int)result;
}

long caf_recv(int descriptor, void *buffer, size_t length) {
    PERFORM(CAF_CALL_RECV, descriptor, length, recv(descriptor, buffer, call.length, 0));
    return result;
}

static long send_slices(int descriptor, const void *first, size_t first_length, const void *second,
                        size_t second_length, size_t limit) {
    if (first_length > limit) first_length = limit;
    if (second_length > limit - first_length) second_length = limit - first_length;
    if (second_length == 0) return send(descriptor, first, first_length, MSG_NOSIGNAL);
    if (first_length == 0) return send(descriptor, second, second_length, MSG_NOSIGNAL);
    struct iovec slices[2] = {
        {.iov_base = (void *)first, .iov_len = first_length},
        {.iov_base = (void *)second, .iov_len = second_length},
    };
    struct msghdr message = {.msg_iov = slices, .msg_iovlen = 2};
    return sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

long caf_send(int descriptor, const void *first, size_t first_length, const void *second, size_t second_length) {
    PERFORM(CAF_CALL_SEND, descriptor, first_length + second_length,
            send_slices(descriptor, first, first_length, second, second_length, call.length));
    return result;
}

int caf_shutdown_write(int descriptor) {
    PERFORM(CAF_CALL_SHUTDOWN, descriptor, 0, shutdown(descriptor, SHUT_WR));
    return (int)result;
}

static int set_integer_option(int descriptor, int level, int name, int value) {
    PERFORM(CAF_CALL_SETSOCKOPT, descriptor, 0, setsockopt(descriptor, level, name, &value, sizeof value));
    return (int)result;
}

int caf_no_delay(int descriptor) { return set_integer_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1); }

int caf_keep_alive(int descriptor, int idle_seconds, int interval_seconds, int probes, int user_timeout_milliseconds) {
    int failed = set_integer_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
    if (failed == 0) failed = set_integer_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, idle_seconds);
    if (failed == 0) failed = set_integer_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, interval_seconds);
    if (failed == 0) failed = set_integer_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, probes);
    if (failed == 0)
        failed = set_integer_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, user_timeout_milliseconds);
    return failed;
}

int caf_mark_traffic(int descriptor, int family, int traffic_class, int priority) {
    int failed = family == AF_INET6 ? set_integer_option(descriptor, IPPROTO_IPV6, IPV6_TCLASS, traffic_class)
                                    : set_integer_option(descriptor, IPPROTO_IP, IP_TOS, traffic_class);
    // After the class: for IPv4 the kernel derives a priority from that.
    int refused = set_integer_option(descriptor, SOL_SOCKET, SO_PRIORITY, priority);
    return failed != 0 ? failed : refused;
}

static int bind_address(int descriptor, const struct sockaddr *address, socklen_t length) {
    // The kernel picks the port with the other end in mind: fewer ports are in use. Without this the connection works, too.
    set_integer_option(descriptor, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    PERFORM(CAF_CALL_BIND, descriptor, 0, bind(descriptor, address, length));
    return (int)result;
}

static int bind_interface(int descriptor, const char *name) {
    PERFORM(CAF_CALL_SETSOCKOPT, descriptor, 0,
            setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, name, (socklen_t)strlen(name)));
    return (int)result;
}

int caf_bind_source(int descriptor, int family, const char *source) {
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    bool is_four = inet_pton(AF_INET, source, &four.sin_addr) == 1;
    bool is_six = inet_pton(AF_INET6, source, &six.sin6_addr) == 1;
    if (!is_four && !is_six) return bind_interface(descriptor, source);
    if (family != (is_four ? AF_INET : AF_INET6)) return -EAFNOSUPPORT;
    return is_four ? bind_address(descriptor, (struct sockaddr *)&four, sizeof four)
                   : bind_address(descriptor, (struct sockaddr *)&six, sizeof six);
}

int caf_close(int descriptor) {
    caf_intercepted_call call = {.call = CAF_CALL_CLOSE, .descriptor = descriptor};
    bool answered = intercepted(&call);
    int result = close(descriptor) < 0 ? -errno : 0;
    return answered ? (int)call.result : result;
}

// MARK: Polling

int caf_epoll_create(void) {
    PERFORM(CAF_CALL_EPOLL_CREATE, -1, 0, epoll_create1(EPOLL_CLOEXEC));
    return (int)result;
}

int caf_epoll_add(int epoll, int descriptor, uint64_t token) {
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.u64 = token};
    PERFORM(CAF_CALL_EPOLL_CTL, descriptor, 0, epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event));
    return (int)result;
}

int caf_epoll_remove(int epoll, int descriptor) {
    PERFORM(CAF_CALL_EPOLL_CTL, descriptor, 0, epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL));
    return (int)result;
}

static uint32_t readiness_of(uint32_t events) {
    uint32_t readiness = 0;
    if (events & EPOLLIN) readiness |= CAF_READABLE;
    if (events & EPOLLOUT) readiness |= CAF_WRITABLE;
    // An error or a hang-up is learnt by reading (or by finishing a connect), so
    // both directions are woken whatever else the kernel reported.
    if (events & (EPOLLERR | EPOLLHUP)) readiness |= CAF_READABLE | CAF_WRITABLE | CAF_HANGUP;
    if (events & EPOLLRDHUP) readiness |= CAF_READABLE | CAF_HANGUP;
    return readiness;
}

int caf_epoll_wait(int epoll, caf_event *events, int capacity, int timeout_milliseconds) {
    struct epoll_event raw[256];
    if (capacity > 256) capacity = 256;
    caf_intercepted_call call = {
        .call = CAF_CALL_EPOLL_WAIT, .descriptor = epoll, .length = (size_t)capacity, .events = raw};
    int count;
    if (intercepted(&call)) {
        count = (int)call.result;
    } else {
        count = epoll_wait(epoll, raw, capacity, timeout_milliseconds);
        if (count < 0) return -errno;
    }
    for (int i = 0; i < count; i++) {
        events[i].token = raw[i].data.u64;
        events[i].readiness = readiness_of(raw[i].events);
    }
    return count;
}

int caf_eventfd(void) {
    PERFORM(CAF_CALL_EVENTFD, -1, 0, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    return (int)result;
}

static long add_one(int descriptor) {
    uint64_t one = 1;
    PERFORM(CAF_CALL_SEND, descriptor, sizeof one, write(descriptor, &one, sizeof one));
    return result;
}

int caf_eventfd_signal(int descriptor) {
    long result = add_one(descriptor);
    if (result == -EAGAIN) {
        // The counter, which no code reads, is full: without room there is no edge, and a sleeping loop is not woken.
        uint64_t count;
        if (read(descriptor, &count, sizeof count) < 0 && errno != EAGAIN) return -errno;
        result = add_one(descriptor);
    }
    return result < 0 ? (int)result : 0;
}

// MARK: Time, threads, names

int64_t caf_monotonic_nanoseconds(void) {
    caf_intercepted_call call = {.call = CAF_CALL_CLOCK, .descriptor = -1};
    struct timespec now;
    if (intercepted(&call) || clock_gettime(CLOCK_MONOTONIC, &now) != 0) return -1;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct timespec caf_wall_clock(void) {
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    return now;
}

void caf_sleep_nanoseconds(int64_t nanoseconds) {
    struct timespec pause = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    nanosleep(&pause, NULL);
}

void caf_yield(void) { sched_yield(); }

void caf_free_block(size_t size) {
    // Volatile: a compiler may leave out a block that is not used.
    void *volatile block = malloc(size);
    if (!block) return;
    free(block);
}

typedef struct {
    char name[16];
    void (*body)(void *);
    void *argument;
} thread_start;

static void *run_thread(void *argument) {
    thread_start start = *(thread_start *)argument;
    free(argument);
    pthread_setname_np(pthread_self(), start.name);
    start.body(start.argument);
    return NULL;
}

static int create_detached(pthread_attr_t *attributes, size_t stack_size, thread_start *start) {
    pthread_t thread;
    pthread_attr_setdetachstate(attributes, PTHREAD_CREATE_DETACHED);
    int failed = pthread_attr_setstacksize(attributes, stack_size);
    return failed != 0 ? failed : pthread_create(&thread, attributes, run_thread, start);
}

int caf_start_thread(const char *name, size_t stack_size, void (*body)(void *), void *argument) {
    caf_intercepted_call call = {.call = CAF_CALL_THREAD, .descriptor = -1};
    if (intercepted(&call)) return (int)call.result;
    thread_start *start = malloc(sizeof *start);
    if (start == NULL) return -ENOMEM;
    *start = (thread_start){.body = body, .argument = argument};
    strncpy(start->name, name, sizeof start->name - 1);

    // A new thread inherits the mask: signals belong to the program's own threads. Faults
    // of the thread itself stay visible to a crash reporter.
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t masked, previous;
    sigfillset(&masked);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) sigdelset(&masked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &masked, &previous);
    pthread_attr_t attributes;
    int failed = pthread_attr_init(&attributes);
    if (failed == 0) {
        failed = create_detached(&attributes, stack_size, start);
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    if (failed != 0) free(start);
    return -failed;
}

static _Thread_local const void *thread_mark;

const void *caf_thread_mark(void) { return thread_mark; }

const void *caf_exchange_thread_mark(const void *mark) {
    const void *previous = thread_mark;
    thread_mark = mark;
    return previous;
}

int caf_getaddrinfo(const char *host, struct addrinfo **result) {
    caf_intercepted_call call = {.call = CAF_CALL_GETADDRINFO, .descriptor = -1};
    if (intercepted(&call)) return (int)call.result;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    return getaddrinfo(host, NULL, &hints, result);
}

void caf_freeaddrinfo(struct addrinfo *list) {
    if (list != NULL) freeaddrinfo(list);
}

static void copy_text(const char *text, char *buffer, size_t capacity) {
    if (capacity == 0) return;
    strncpy(buffer, text, capacity - 1);
    buffer[capacity - 1] = 0;
}

void caf_describe_resolver_error(int code, char *buffer, size_t capacity) {
    if (code == EAI_SYSTEM)
        caf_describe_errno(errno, buffer, capacity);
    else
        copy_text(gai_strerror(code), buffer, capacity);
}

void caf_describe_errno(int code, char *buffer, size_t capacity) {
    char scratch[128];
    copy_text(strerror_r(code, scratch, sizeof scratch), buffer, capacity);
}

static atomic_bool forked_child;

static void note_fork(void) { atomic_store(&forked_child, true); }

static void register_fork_handler(void) { pthread_atfork(NULL, NULL, note_fork); }

void caf_watch_forks(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_fork_handler);
}

bool caf_is_forked_child(void) { return atomic_load_explicit(&forked_child, memory_order_relaxed); }

// MARK: Core Foundation

typedef struct {
    long version;
    void *info;
    const void *(*retain)(const void *);
    void (*release)(const void *);
    const void *(*describe)(const void *);
} timer_context;

// Weak: a program without Foundation has none of these.
extern void *CFRunLoopGetCurrent(void) __attribute__((weak));
extern void *CFRunLoopGetMain(void) __attribute__((weak));
extern void CFRunLoopStop(void *loop) __attribute__((weak));
extern void *CFRunLoopTimerCreate(const void *allocator, double first, double interval, unsigned long flags, long order,
                                  void (*callout)(void *, void *), timer_context *context) __attribute__((weak));
extern void CFRunLoopAddTimer(void *loop, void *timer, const void *mode) __attribute__((weak));
extern void CFRunLoopTimerSetNextFireDate(void *timer, double date) __attribute__((weak));
extern void CFRunLoopTimerInvalidate(void *timer) __attribute__((weak));
extern double CFAbsoluteTimeGetCurrent(void) __attribute__((weak));
extern const void *CFStringCreateWithCString(const void *allocator, const char *text, uint32_t encoding)
    __attribute__((weak));
extern void CFRelease(const void *object) __attribute__((weak));
// Core Foundation knows it by its address.
extern const void *const kCFRunLoopCommonModes __attribute__((weak));

void caf_end_run_loop_pass(void) {
    if (CFRunLoopGetCurrent && CFRunLoopStop) CFRunLoopStop(CFRunLoopGetCurrent());
}

static bool has_run_loop_timers(void) {
    return CFRunLoopGetCurrent && CFRunLoopGetMain && CFRunLoopTimerCreate && CFRunLoopAddTimer &&
           CFRunLoopTimerSetNextFireDate && CFRunLoopTimerInvalidate && CFAbsoluteTimeGetCurrent &&
           CFStringCreateWithCString && CFRelease && &kCFRunLoopCommonModes;
}

uintptr_t caf_run_loop_timer_make(void (*callout)(void *, void *), uintptr_t number) {
    if (!has_run_loop_timers()) return 0;
    const double never = 1e9;  // seconds: longer than any process lives
    timer_context context = {.info = (void *)number};
    return (uintptr_t)CFRunLoopTimerCreate(NULL, CFAbsoluteTimeGetCurrent() + never, never, 0, 0, callout, &context);
}

void caf_run_loop_timer_add(uintptr_t timer, bool to_main, const char *mode) {
    void *loop = to_main ? CFRunLoopGetMain() : CFRunLoopGetCurrent();
    if (strcmp(mode, "kCFRunLoopCommonModes") == 0) return CFRunLoopAddTimer(loop, (void *)timer, kCFRunLoopCommonModes);
    const uint32_t utf8 = 0x08000100;
    const void *name = CFStringCreateWithCString(NULL, mode, utf8);
    if (name == NULL) return;
    CFRunLoopAddTimer(loop, (void *)timer, name);
    CFRelease(name);
}

void caf_run_loop_timer_fire(uintptr_t timer) {
    CFRunLoopTimerSetNextFireDate((void *)timer, CFAbsoluteTimeGetCurrent());
}

void caf_run_loop_timer_end(uintptr_t timer) { CFRunLoopTimerInvalidate((void *)timer); }

void caf_run_loop_timer_release(uintptr_t timer) { CFRelease((void *)timer); }
