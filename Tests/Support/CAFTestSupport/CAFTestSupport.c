#define _GNU_SOURCE 1
#include "CAFTestSupport.h"
#include "CAFLinux.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum plan { PLAN_NOTHING, PLAN_FAIL, PLAN_SHORTEN };

static atomic_long counts[CAF_CALL_COUNT];
static atomic_int plan, planned_call;
static atomic_long planned_ordinal, planned_value;
static atomic_bool fired;
static atomic_long bad_closes;
static atomic_long calls_to_live;
static atomic_int disturb_percent;
static atomic_size_t disturb_length, disturb_sent_length;
static atomic_bool disturb_halves_sent;
static atomic_ullong random_state;
// Each loop reads and writes on the thread on which it waits.
static _Thread_local int epoll_descriptor = -1;
static atomic_bool lookups_held;
static atomic_long held_lookups, most_held_lookups, lookup_answer = 1;

// xorshift64*; a lost update between threads only changes which number comes.
static unsigned next_random(void) {
    uint64_t x = atomic_load(&random_state);
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    atomic_store(&random_state, x);
    return (unsigned)((x * 2685821657736338717ull) >> 33);
}

// A false "would block" or a short count hides bytes whose edge has been reported
// already. Touching the registration makes the kernel report the edge again, as it
// would if the bytes had only just come.
static void rearm(int descriptor) {
    int epoll = epoll_descriptor;
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", epoll);
    FILE *file = epoll < 0 ? NULL : fopen(path, "re");
    if (file == NULL) return;
    while (fgets(line, sizeof line, file) != NULL) {
        int target;
        unsigned events;
        unsigned long long token;
        if (sscanf(line, "tfd: %d events: %x data: %llx", &target, &events, &token) == 3 && target == descriptor) {
            struct epoll_event event = {.events = events, .data.u64 = token};
            epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
            break;
        }
    }
    fclose(file);
}

static bool carries_bytes(const caf_intercepted_call *call) {
    return call->call == CAF_CALL_RECV || call->call == CAF_CALL_SEND;
}

// A part of a datagram is not a part of a stream: the rest of it would be lost.
static bool is_stream(int descriptor) {
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

static atomic_long disturbed;

static bool answer(caf_intercepted_call *call, long result) {
    call->result = result;
    if (result == -EAGAIN) rearm(call->descriptor);
    return true;
}

static bool shorten(caf_intercepted_call *call, size_t length) {
    if (length > 0 && call->length > length) {
        call->length = length;
        atomic_fetch_add(&disturbed, 1);
        rearm(call->descriptor);
    }
    return false;
}

static bool is_disturbed(void) {
    return atomic_load(&disturb_percent) > 0 || atomic_load(&disturb_length) > 0 ||
           atomic_load(&disturb_sent_length) > 0 || atomic_load(&disturb_halves_sent);
}

static bool disturb(caf_intercepted_call *call) {
    if (!is_disturbed() || !is_stream(call->descriptor)) return false;
    int percent = atomic_load(&disturb_percent);
    if (percent > 0 && (int)(next_random() % 100) < percent) {
        atomic_fetch_add(&disturbed, 1);
        return answer(call, -EAGAIN);
    }
    if (call->call == CAF_CALL_RECV) return shorten(call, atomic_load(&disturb_length));
    if (atomic_load(&disturb_halves_sent)) return shorten(call, (call->length + 1) / 2);
    return shorten(call, atomic_load(&disturb_sent_length));
}

static bool look_up(caf_intercepted_call *call) {
    if (atomic_load(&lookups_held)) {
        long now = atomic_fetch_add(&held_lookups, 1) + 1;
        long most = atomic_load(&most_held_lookups);
        while (now > most && !atomic_compare_exchange_weak(&most_held_lookups, &most, now)) {}
        struct timespec pause = {.tv_nsec = 1000000};
        while (atomic_load(&lookups_held)) nanosleep(&pause, NULL);
        atomic_fetch_sub(&held_lookups, 1);
    }
    call->result = atomic_load(&lookup_answer);
    return call->result != 1;
}

static bool hook(caf_intercepted_call *call) {
    // A wake-up that is lost on purpose would be a fault no kernel has.
    if (call->call == CAF_CALL_SEND && call->length == sizeof(uint64_t)) return false;
    if (atomic_load(&calls_to_live) > 0 && atomic_fetch_sub(&calls_to_live, 1) == 1) kill(getpid(), SIGKILL);
    long ordinal = atomic_fetch_add(&counts[call->call], 1) + 1;
    switch (call->call) {
        case CAF_CALL_EPOLL_WAIT: epoll_descriptor = call->descriptor; break;
        case CAF_CALL_CLOSE:
            if (fcntl(call->descriptor, F_GETFD) < 0) atomic_fetch_add(&bad_closes, 1);
            break;
        default: break;
    }
    int wanted = atomic_load(&plan);
    if (wanted != PLAN_NOTHING && (int)call->call == atomic_load(&planned_call) &&
        ordinal == atomic_load(&planned_ordinal)) {
        atomic_store(&fired, true);
        long value = atomic_load(&planned_value);
        return wanted == PLAN_FAIL ? answer(call, value) : shorten(call, (size_t)value);
    }
    if (call->call == CAF_CALL_GETADDRINFO) return look_up(call);
    return carries_bytes(call) && disturb(call);
}

static void make_plan(int kind, int call, long ordinal, long value) {
    atomic_store(&plan, PLAN_NOTHING);
    caft_watch();
    atomic_store(&planned_call, call);
    atomic_store(&planned_ordinal, ordinal);
    atomic_store(&planned_value, value);
    atomic_store(&plan, kind);
}

// What the environment wants of every test: AFNET_PERTURB=read:percent:write:seed, where `read` is the most bytes of
// one read, `percent` how often a call answers EAGAIN, and `write` the most bytes of one write, or `half` of what it
// would be; 0 stands for undisturbed.
static struct {
    size_t read, write;
    int percent;
    bool halves;
    uint64_t seed;
} everywhere;

static void disturb_all(void) {
    atomic_store(&random_state, everywhere.seed * 2 + 1);
    atomic_store(&disturb_percent, everywhere.percent);
    atomic_store(&disturb_length, everywhere.read);
    atomic_store(&disturb_sent_length, everywhere.write);
    atomic_store(&disturb_halves_sent, everywhere.halves);
}

static void tell_disturbed(void) { fprintf(stderr, "perturbed: %ld calls\n", atomic_load(&disturbed)); }

// Before anything else of the process: tests need not know of it, nor the processes they start.
__attribute__((constructor)) static void read_environment(void) {
    const char *wanted = getenv("AFNET_PERTURB");
    if (wanted == NULL || *wanted == 0) return;
    char writes[24] = "";
    unsigned long long seed = 0;
    if (sscanf(wanted, "%zu:%d:%23[^:]:%llu", &everywhere.read, &everywhere.percent, writes, &seed) != 4 ||
        everywhere.percent < 0 || everywhere.percent > 99) {
        fprintf(stderr, "AFNET_PERTURB=%s is not READ:PERCENT:WRITE:SEED\n", wanted);
        exit(64);
    }
    everywhere.seed = seed;
    everywhere.halves = strcmp(writes, "half") == 0;
    everywhere.write = everywhere.halves ? 0 : strtoul(writes, NULL, 10);
    disturb_all();
    caf_set_hook(hook);
    atexit(tell_disturbed);
}

long caft_disturbed_calls(void) { return atomic_load(&disturbed); }

void caft_watch(void) {
    for (int i = 0; i < CAF_CALL_COUNT; i++) atomic_store(&counts[i], 0);
    atomic_store(&fired, false);
    caf_set_hook(hook);
}

void caft_stop(void) {
    atomic_store(&plan, PLAN_NOTHING);
    atomic_store(&lookups_held, false);
    atomic_store(&lookup_answer, 1);
    disturb_all();
    caf_set_hook(is_disturbed() ? hook : NULL);
}

void caft_spare(void) { atomic_store(&plan, PLAN_NOTHING); }

void caft_fail_call(int call, long ordinal, long result) { make_plan(PLAN_FAIL, call, ordinal, result); }

void caft_shorten_call(int call, long ordinal, size_t length) {
    make_plan(PLAN_SHORTEN, call, ordinal, (long)length);
}

void caft_disturb(int percent, size_t length, uint64_t seed) {
    atomic_store(&random_state, seed * 2 + 1);
    atomic_store(&disturb_percent, percent);
    atomic_store(&disturb_length, length);
    atomic_store(&disturb_sent_length, length);
    atomic_store(&disturb_halves_sent, false);
    caft_watch();
}

void caft_die_at_call(long ordinal) {
    atomic_store(&calls_to_live, ordinal);
    caf_set_hook(hook);
}

bool caft_fired(void) { return atomic_load(&fired); }
long caft_calls(int call) { return atomic_load(&counts[call]); }
long caft_bad_closes(void) { return atomic_load(&bad_closes); }

void caft_hold_lookups(bool hold) {
    if (hold) atomic_store(&most_held_lookups, 0);
    atomic_store(&lookups_held, hold);
    caf_set_hook(hook);
}

long caft_held_lookups(void) { return atomic_load(&held_lookups); }
long caft_most_held_lookups(void) { return atomic_load(&most_held_lookups); }

void caft_answer_lookups(long code) {
    atomic_store(&lookup_answer, code);
    caf_set_hook(hook);
}

int caft_run_in_fork(int (*body)(void *), void *argument) {
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        alarm(10);
        _exit(body(argument));
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int caft_spawn(const char *program, char *const words[], char *const variables[], int input, int output, int errors) {
    posix_spawn_file_actions_t actions;
    int failure = posix_spawn_file_actions_init(&actions);
    if (failure != 0) return -failure;
    int sources[] = {input, output, errors};
    for (int target = 0; target < 3 && failure == 0; target++) {
        failure = posix_spawn_file_actions_adddup2(&actions, sources[target], target);
    }
    if (failure == 0) failure = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    pid_t child = 0;
    if (failure == 0) failure = posix_spawn(&child, program, &actions, NULL, words, variables);
    posix_spawn_file_actions_destroy(&actions);
    return failure == 0 ? child : -failure;
}

int64_t caft_cpu_microseconds(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return -1;
    return (int64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 + usage.ru_utime.tv_usec +
           usage.ru_stime.tv_usec;
}

// The totals of `malloc_info` stand at its end, after those of each arena.
static int64_t last_number(const char *text, const char *before, const char *attribute) {
    int64_t found = 0;
    for (const char *at = strstr(text, before); at != NULL; at = strstr(at + 1, before)) {
        const char *number = strstr(at, attribute);
        if (number != NULL) found = strtoll(number + strlen(attribute), NULL, 10);
    }
    return found;
}

int64_t caft_heap_bytes(void) {
    char *text = NULL;
    size_t length = 0;
    FILE *file = open_memstream(&text, &length);
    if (file == NULL) return -1;
    malloc_info(0, file);
    fclose(file);
    int64_t used = last_number(text, "<system type=\"current\"", "size=\"") +
                   last_number(text, "<total type=\"mmap\"", "size=\"") -
                   last_number(text, "<total type=\"fast\"", "size=\"") -
                   last_number(text, "<total type=\"rest\"", "size=\"");
    free(text);
    return used;
}

// MARK: One thread's calls

static _Thread_local caft_router current_router;
static _Thread_local void *router_context;

static bool route(caf_intercepted_call *call) {
    if (current_router == NULL) return false;
    return current_router(router_context, (int)call->call, call->descriptor, &call->length, &call->result);
}

void caft_route(caft_router router, void *context) {
    current_router = router;
    router_context = context;
    caf_set_hook(route);
}

void caft_unroute(void *context) {
    if (router_context != context) return;
    current_router = NULL;
    router_context = NULL;
}

// MARK: Rights

void caft_give_rights_by_default(const char *folder) {
    // As acl(5) and linux/posix_acl_xattr.h have it: owner, user 1234, group, mask, others.
    struct {
        uint32_t version;
        struct {
            uint16_t tag, rights;
            uint32_t user;
        } entries[5];
    } list = {2, {{1, 7, UINT32_MAX}, {2, 7, 1234}, {4, 7, UINT32_MAX}, {16, 7, UINT32_MAX}, {32, 7, UINT32_MAX}}};
    (void)setxattr(folder, "system.posix_acl_default", &list, sizeof list, 0);
}

static atomic_bool claims_more_rights;

void caft_claim_more_rights(void) { atomic_store(&claims_more_rights, true); }

// In place of the C library's, which goes by how the process was started.
char *secure_getenv(const char *name) { return atomic_load(&claims_more_rights) ? NULL : getenv(name); }

// MARK: Silence

bool caft_silence_other_end(int descriptor) {
    struct sock_filter drop_all = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog filter = {.len = 1, .filter = &drop_all};
    struct sockaddr_storage ours = {0}, theirs = {0};
    socklen_t our_length = sizeof ours;
    if (getsockname(descriptor, (struct sockaddr *)&ours, &our_length) < 0) return false;
    for (int other = 0; other < 1024; other++) {
        socklen_t length = sizeof theirs;
        if (getpeername(other, (struct sockaddr *)&theirs, &length) < 0) continue;
        if (length != our_length || memcmp(&ours, &theirs, length) != 0) continue;
        return setsockopt(other, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
    }
    return false;
}
