#define _GNU_SOURCE 1
#include "CAFLibraryFaults.h"
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <zlib.h>

enum {
#define FUNCTION(type, name, parameters, arguments, failure, other) NUMBER_##name,
#include "Functions.def"
#undef FUNCTION
    NUMBER_INFLATE_INIT,
    NUMBER_OPENSSL_MEMORY,
    NUMBER_ZLIB_MEMORY,
    NUMBER_COUNT
};

static const char *const names[NUMBER_COUNT] = {
#define FUNCTION(type, name, parameters, arguments, failure, other) #name,
#include "Functions.def"
#undef FUNCTION
    "inflateInit2_",
    "openssl-memory",
    "zlib-memory",
};

// MARK: The plan

static atomic_long counts[NUMBER_COUNT];
static atomic_int planned_function = -1, planned_way;
static atomic_long planned_ordinal;
static atomic_bool fired;
static _Thread_local int spared;

int cafl_count(void) { return NUMBER_COUNT; }
const char *cafl_name(int function) { return names[function]; }
bool cafl_is_memory(int function) { return function == NUMBER_OPENSSL_MEMORY || function == NUMBER_ZLIB_MEMORY; }

void cafl_disarm(void) { atomic_store(&planned_function, -1); }

void cafl_watch(void) {
    cafl_disarm();
    for (int i = 0; i < NUMBER_COUNT; i++) atomic_store(&counts[i], 0);
    atomic_store(&fired, false);
}

void cafl_arm(int function, cafl_way way, long ordinal) {
    cafl_watch();
    atomic_store(&planned_way, way);
    atomic_store(&planned_ordinal, ordinal);
    atomic_store(&planned_function, function);
}

bool cafl_fired(void) { return atomic_load(&fired); }
long cafl_calls(int function) { return atomic_load(&counts[function]); }
void cafl_spare(int step) { spared += step; }

// A thread has its name before it has anything to do with these libraries.
static bool is_of_server(void) {
    static _Thread_local int known;
    if (known == 0) {
        char name[16] = "";
        prctl(PR_GET_NAME, name);
        known = strncmp(name, "AFTest", 6) == 0 ? 1 : 2;
    }
    return known == 1;
}

// Whether OpenSSL is making the context in which its legacy provider works. If it cannot make a part of it, OpenSSL 3.0
// frees that part without having made it, and the process ends: only OpenSSL can mend that.
static bool is_in_child_context(void) {
    void *frames[64];
    int count = backtrace(frames, 64);
    for (int i = 0; i < count; i++) {
        Dl_info found;
        bool has_name = dladdr(frames[i], &found) != 0 && found.dli_sname != NULL;
        if (has_name && strcmp(found.dli_sname, "OSSL_LIB_CTX_new_child") == 0) return true;
    }
    return false;
}

// The way in which this call fails, or -1.
static int ask(int function) {
    if (spared > 0 || is_of_server()) return -1;
    long ordinal = atomic_fetch_add(&counts[function], 1) + 1;
    if (atomic_load(&planned_function) != function || atomic_load(&planned_ordinal) != ordinal) return -1;
    if (function == NUMBER_OPENSSL_MEMORY && is_in_child_context()) return -1;
    atomic_store(&fired, true);
    return atomic_load(&planned_way);
}

// MARK: Functions

// From the linker: where the code of this program is.
extern const char __executable_start, etext;

static bool is_ours(const void *caller) {
    return (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

// The library's own, behind ours.
static void *next_of(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL) abort();
    return found;
}

static bool speaks(int function) {
    return function == NUMBER_SSL_do_handshake || function == NUMBER_SSL_read_ex || function == NUMBER_SSL_write_ex;
}

static int way_of(int function, const void *caller) {
    if (!is_ours(caller)) return -1;
    int way = ask(function);
    if (way == CAFL_FAILS && function < NUMBER_inflate) ERR_raise(ERR_LIB_SSL, ERR_R_MALLOC_FAILURE);
    // Without a word it would look as if they waited for the network.
    if (way == CAFL_FAILS_OTHERWISE && speaks(function)) ERR_raise(ERR_LIB_SYS, ENOMEM);
    return way;
}

#define FUNCTION(type, name, parameters, arguments, failure, other)     \
    type name parameters {                                              \
        static type(*_Atomic next) parameters;                          \
        switch (way_of(NUMBER_##name, __builtin_return_address(0))) {   \
            case CAFL_FAILS: return failure;                            \
            case CAFL_FAILS_OTHERWISE: return other;                    \
            default: break;                                             \
        }                                                               \
        if (next == NULL) next = (type(*) parameters)next_of(#name);    \
        return next arguments;                                          \
    }
#include "Functions.def"
#undef FUNCTION

// MARK: Memory

// Blocks that were taken and not given back.
static atomic_long held;

long cafl_held(void) { return atomic_load(&held); }

static void *counted(void *memory) {
    if (memory != NULL) atomic_fetch_add(&held, 1);
    return memory;
}

static void release(void *memory) {
    if (memory != NULL) atomic_fetch_sub(&held, 1);
    free(memory);
}

static void *take(size_t count, const char *file, int line) {
    (void)file, (void)line;
    return ask(NUMBER_OPENSSL_MEMORY) >= 0 ? NULL : counted(malloc(count));
}

static void *take_more(void *memory, size_t count, const char *file, int line) {
    (void)file, (void)line;
    if (count == 0) {
        release(memory);
        return NULL;
    }
    if (ask(NUMBER_OPENSSL_MEMORY) >= 0) return NULL;
    return memory == NULL ? counted(malloc(count)) : realloc(memory, count);
}

static void give_back(void *memory, const char *file, int line) {
    (void)file, (void)line;
    release(memory);
}

static bool has_memory;

// Before the library's own constructor, which uses OpenSSL.
__attribute__((constructor(101))) static void take_memory(void) {
    has_memory = CRYPTO_set_mem_functions(take, take_more, give_back) == 1;
}

bool cafl_take_memory(void) { return has_memory; }

static void *take_for_zlib(void *opaque, unsigned count, unsigned size) {
    (void)opaque;
    return ask(NUMBER_ZLIB_MEMORY) >= 0 ? NULL : counted(calloc(count, size));
}

static void give_back_to_zlib(void *opaque, void *memory) {
    (void)opaque;
    release(memory);
}

int inflateInit2_(z_streamp stream, int bits, const char *version, int size) {
    static int (*_Atomic next)(z_streamp, int, const char *, int);
    switch (way_of(NUMBER_INFLATE_INIT, __builtin_return_address(0))) {
        case CAFL_FAILS: return Z_MEM_ERROR;
        case CAFL_FAILS_OTHERWISE: return Z_VERSION_ERROR;
        default: break;
    }
    if (is_ours(__builtin_return_address(0)) && stream->zalloc == Z_NULL) {
        stream->zalloc = take_for_zlib;
        stream->zfree = give_back_to_zlib;
    }
    if (next == NULL) next = (int (*)(z_streamp, int, const char *, int))next_of("inflateInit2_");
    return next(stream, bits, version, size);
}
