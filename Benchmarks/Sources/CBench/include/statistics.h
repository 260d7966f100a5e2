// Latencies and the one line of JSON that the runner reads.
#pragma once
#include "process.h"

typedef struct {
    uint32_t *latencies; // in 100 ns
    long count, capacity, connections;
    uint64_t bytes; // of bodies, received or sent
    uint64_t began_ns;
    double began_cpu;
    long began_rss_kb;
} statistics_t;

static inline void statistics_init(statistics_t *s, long capacity) {
    memset(s, 0, sizeof *s);
    s->latencies = (uint32_t *)malloc(sizeof(uint32_t) * (size_t)capacity);
    s->capacity = capacity;
}

// What the warm-up counted is forgotten.
static inline void statistics_begin(statistics_t *s) {
    s->count = s->connections = 0;
    s->bytes = 0;
    s->began_rss_kb = rss_kb();
    s->began_cpu = cpu_seconds();
    s->began_ns = now_ns();
}

static inline void statistics_add(statistics_t *s, uint64_t ns, uint64_t bytes) {
    uint64_t ticks = ns / 100;
    if (s->count < s->capacity) s->latencies[s->count++] = ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)ticks;
    s->bytes += bytes;
}

static inline int compare_u32(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline double percentile(const statistics_t *s, double share) {
    return s->latencies[(long)((double)s->count * share)] / 10.0;
}

// `connections` below 0: the client cannot tell.
static inline void statistics_report(statistics_t *s, const char *client) {
    double wall = (double)(now_ns() - s->began_ns) / 1e9, cpu = cpu_seconds() - s->began_cpu;
    double n = (double)s->count, bytes = (double)s->bytes;
    qsort(s->latencies, (size_t)s->count, sizeof(uint32_t), compare_u32);
    printf("{\"client\":\"%s\",\"n\":%ld,\"rps\":%.1f,\"cpu_us_req\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
           "\"p999_us\":%.1f,\"rss_kb\":%ld,\"rss_start_kb\":%ld,\"wall_s\":%.4f,\"bytes\":%llu",
           client, s->count, n / wall, cpu * 1e6 / n, percentile(s, 0.5), percentile(s, 0.99), percentile(s, 0.999),
           peak_rss_kb(), s->began_rss_kb, wall, (unsigned long long)s->bytes);
    if (s->connections >= 0) printf(",\"conns\":%ld", s->connections);
    if (bytes / n >= 1 << 20) printf(",\"mb_s\":%.1f,\"cpu_s_gb\":%.4f", bytes / wall / 1e6, cpu / (bytes / 1e9));
    puts("}");
    fflush(stdout);
}

// MARK: Connections at rest

typedef struct {
    long rss_kb, sockets;
} rest_t;

// What is held, without what malloc keeps for later.
static inline rest_t at_rest(void) {
    malloc_trim(0);
    return (rest_t){rss_kb(), open_sockets()};
}

static inline double bytes_each(rest_t before, rest_t after) {
    long opened = after.sockets - before.sockets;
    return (double)(after.rss_kb - before.rss_kb) * 1024 / (double)(opened > 0 ? opened : 1);
}

// `second`: after another request on each connection.
static inline void report_rest(const char *client, rest_t before, rest_t first, rest_t second) {
    printf("{\"client\":\"%s\",\"open\":%ld,\"rss_per_connection\":%.0f,\"open_2\":%ld,\"rss_per_connection_2\":%.0f,"
           "\"rss_start_kb\":%ld,\"rss_kb\":%ld}\n",
           client, first.sockets - before.sockets, bytes_each(before, first), second.sockets - before.sockets,
           bytes_each(before, second), before.rss_kb, peak_rss_kb());
    fflush(stdout);
}
