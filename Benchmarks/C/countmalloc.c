// Counts the allocations of a program: LD_PRELOAD=countmalloc.so PROGRAM. The count is written at exit, as one number,
// to the file COUNTMALLOC_FILE, or else as a line to stderr.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// What the names below mean in glibc.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static long allocations;

static void count(void) { __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED); }

void *malloc(size_t size) {
    count();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    count();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    count();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    int before = errno;
    void *made = memalign(alignment, size);
    errno = before;
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

__attribute__((destructor)) static void report(void) {
    const char *path = getenv("COUNTMALLOC_FILE");
    int file = path ? open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600) : STDERR_FILENO;
    dprintf(file, path ? "%ld\n" : "allocations %ld\n", __atomic_load_n(&allocations, __ATOMIC_RELAXED));
}
