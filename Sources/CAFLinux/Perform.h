#pragma once
#include "CAFLinux.h"
#include <errno.h>
#include <stdatomic.h>

extern _Atomic(caf_hook) caf_current_hook;

static inline bool intercepted(caf_intercepted_call *call) {
    caf_hook hook = atomic_load_explicit(&caf_current_hook, memory_order_acquire);
    return __builtin_expect(hook != NULL, 0) && hook(call);
}

// One system call: asks the hook, performs `expression`, retries EINTR. The
// expression may use `call.length`, which the hook may have lowered.
#define PERFORM(kind, fd, wanted, expression)                                            \
    caf_intercepted_call call = {.call = (kind), .descriptor = (fd), .length = (wanted)}; \
    long result;                                                                         \
    do {                                                                                 \
        call.length = (wanted);                                                          \
        if (intercepted(&call)) {                                                        \
            result = call.result;                                                        \
        } else {                                                                         \
            result = (expression);                                                       \
            if (result < 0) result = -errno;                                             \
        }                                                                                \
    } while (result == -EINTR)
