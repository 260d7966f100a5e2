#define _GNU_SOURCE 1

#include "CAFTestServer.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(POLLRDHUP == 0x2000, "the header spells this value out");

int caf_test_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC); }

int caf_test_thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *argument) {
    pthread_attr_t attributes;
    int result = pthread_attr_init(&attributes);
    if (result != 0) return result;
    result = pthread_attr_setstacksize(&attributes, stack_bytes);

    // A signal meant for the program under test must not be delivered to a thread of ours:
    // the new thread inherits this mask, the caller's own mask is put back.
    sigset_t all, before;
    sigfillset(&all);
    // Faults of the thread itself stay visible to a crash reporter.
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (result == 0) result = pthread_create(thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);

    pthread_attr_destroy(&attributes);
    return result;
}

void caf_test_thread_name(const char *name) {
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = 0;
    pthread_setname_np(pthread_self(), kept);
}
