// What the process has used up to now.
#pragma once
#include <dirent.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

// User and system time of the process. Only their sum is exact: the kernel samples the split.
static inline double cpu_seconds(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) + (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static inline long kilobytes(const char *path, const char *key) {
    FILE *file = fopen(path, "re");
    char line[256];
    long value = -1;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, strlen(key))) value = atol(line + strlen(key));
    if (file) fclose(file);
    return value;
}

// ru_maxrss would start with what the parent had.
static inline long peak_rss_kb(void) { return kilobytes("/proc/self/status", "VmHWM:"); }

// VmRSS in status is approximate on newer kernels.
static inline long rss_kb(void) { return kilobytes("/proc/self/smaps_rollup", "Rss:"); }

static inline long open_sockets(void) {
    char path[300], target[64];
    struct dirent *entry;
    DIR *folder = opendir("/proc/self/fd");
    long count = 0;
    while (folder && (entry = readdir(folder))) {
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        ssize_t n = readlink(path, target, sizeof target);
        count += n > 7 && !strncmp(target, "socket:", 7);
    }
    if (folder) closedir(folder);
    return count;
}

static inline void allow_many_descriptors(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}
