#ifndef CAF_TEST_SERVER_H
#define CAF_TEST_SERVER_H

#include "CAFTestAuthority.h"

#include <pthread.h>
#include <stddef.h>

/// poll(2)'s "peer shut down its writing half", which the headers hide without _GNU_SOURCE.
static const short CAF_TEST_POLLRDHUP = 0x2000;

/// accept4(2) with SOCK_CLOEXEC; returns the descriptor, or -1 with errno.
int caf_test_accept(int listener);

/// Starts a joinable thread with every signal blocked but those of its own faults. Returns 0 or an errno value.
int caf_test_thread_start(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *argument);

/// Names the calling thread; longer names are cut to the 15 bytes the kernel keeps.
void caf_test_thread_name(const char *name);

#endif
