// Shared by the C clients: arguments, latency statistics and the one-line JSON report that run.py reads.
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const char *url, *ca;
    long total, concurrency, warm;
    int close_each; // a new connection for every request
    int resume;     // allow TLS sessions to be resumed
} options_t;

static inline void parse_options(int argc, char **argv, options_t *o) {
    memset(o, 0, sizeof *o);
    if (argc < 4) {
        fprintf(stderr, "usage: %s URL TOTAL CONCURRENCY [--warm N] [--ca FILE] [--close] [--resume]\n", argv[0]);
        exit(2);
    }
    o->url = argv[1];
    o->total = atol(argv[2]);
    o->concurrency = atol(argv[3]);
    for (int i = 4; i < argc; i++) {
        int has_value = i + 1 < argc;
        if (!strcmp(argv[i], "--warm") && has_value) o->warm = atol(argv[++i]);
        else if (!strcmp(argv[i], "--ca") && has_value) o->ca = argv[++i];
        else if (!strcmp(argv[i], "--close")) o->close_each = 1;
        else if (!strcmp(argv[i], "--resume")) o->resume = 1;
        else {
            fprintf(stderr, "%s: unknown option %s, or its value is missing\n", argv[0], argv[i]);
            exit(2);
        }
    }
    if (o->total < 1 || o->concurrency < 1) {
        fprintf(stderr, "%s: TOTAL and CONCURRENCY are at least 1\n", argv[0]);
        exit(2);
    }
}

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

// VmHWM, because ru_maxrss starts with what the parent had.
static inline long peak_rss_kb(void) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long value = -1;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "VmHWM:", 6)) value = atol(line + 6);
    if (file) fclose(file);
    return value;
}

typedef struct {
    uint32_t *latencies; // in 100 ns
    long count, capacity, connections;
    uint64_t began_ns, bytes;
    double began_cpu;
} statistics_t;

static inline void statistics_init(statistics_t *s, long capacity) {
    memset(s, 0, sizeof *s);
    s->latencies = malloc(sizeof(uint32_t) * (size_t)capacity);
    s->capacity = capacity;
}

// What the warm-up counted is forgotten.
static inline void statistics_begin(statistics_t *s) {
    s->count = s->connections = 0;
    s->bytes = 0;
    s->began_cpu = cpu_seconds();
    s->began_ns = now_ns();
}

static inline void statistics_add(statistics_t *s, uint64_t ns, uint64_t bytes) {
    uint64_t ticks = ns / 100;
    if (s->count < s->capacity) s->latencies[s->count++] = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    s->bytes += bytes;
}

static int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline void statistics_report(statistics_t *s, const char *client) {
    double wall = (double)(now_ns() - s->began_ns) / 1e9, cpu = cpu_seconds() - s->began_cpu, n = (double)s->count;
    qsort(s->latencies, (size_t)s->count, sizeof(uint32_t), compare_u32);
    printf("{\"client\":\"%s\",\"n\":%ld,\"rps\":%.0f,\"cpu_us_req\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
           "\"rss_kb\":%ld,\"wall_s\":%.4f,\"bytes\":%llu,\"conns\":%ld}\n",
           client, s->count, n / wall, cpu * 1e6 / n, s->latencies[s->count / 2] / 10.0,
           s->latencies[(long)(n * 0.99)] / 10.0, peak_rss_kb(), wall, (unsigned long long)s->bytes, s->connections);
    fflush(stdout);
}
