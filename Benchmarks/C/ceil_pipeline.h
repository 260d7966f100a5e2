// All requests in flight on one connection: whatever was answered in one read is asked again in one send.
#pragma once
#include "ceil_tls.h"

enum { PIPELINE_BUFFER = 262144 };

static struct {
    connection_t connection;
    char *requests; // as many as may be in flight
    size_t request_length, unsent, position;
    uint64_t *began_ns; // of those in flight, a ring
    long started, finished, target;
    char bytes[PIPELINE_BUFFER];
    size_t have;
} pipeline;

static void prepare_pipeline(const char *request, size_t length) {
    pipeline.requests = malloc(length * (size_t)arguments.concurrency);
    for (long i = 0; i < arguments.concurrency; i++) memcpy(pipeline.requests + (size_t)i * length, request, length);
    pipeline.request_length = length;
    pipeline.began_ns = calloc((size_t)arguments.concurrency, sizeof *pipeline.began_ns);
    pipeline.connection.fd = -1;
}

static void fill_pipeline(void) {
    uint64_t now = now_ns();
    while (pipeline.started < pipeline.target && pipeline.started - pipeline.finished < arguments.concurrency) {
        pipeline.began_ns[pipeline.started++ % arguments.concurrency] = now;
        pipeline.unsent += pipeline.request_length;
    }
}

static void send_pipeline(void) {
    size_t all = pipeline.request_length * (size_t)arguments.concurrency;
    while (pipeline.unsent > 0) {
        size_t wanted = pipeline.unsent < all - pipeline.position ? pipeline.unsent : all - pipeline.position;
        size_t n = write_some(&pipeline.connection, pipeline.requests + pipeline.position, wanted);
        if (!n) return;
        pipeline.unsent -= n;
        // Any request will do for the next one; only one that is cut in two must be continued.
        pipeline.position = (pipeline.position + n) % pipeline.request_length;
    }
}

static void finish_response(uint64_t body) {
    statistics_add(&statistics, now_ns() - pipeline.began_ns[pipeline.finished++ % arguments.concurrency], body);
}

// The length of a response at `from`, or 0 while part of it is missing.
static size_t whole_response(const char *from, size_t n) {
    size_t head = whole_head(from, n);
    if (!head) return 0;
    int64_t body = content_length(from, head);
    size_t length = head + (size_t)body;
    if (body < 0 || length > PIPELINE_BUFFER) fail("a response too large for --pipeline");
    if (length > n) return 0;
    finish_response(length - head);
    return length;
}

static int read_responses(void) {
    size_t n = read_some(&pipeline.connection, pipeline.bytes + pipeline.have, PIPELINE_BUFFER - pipeline.have), used = 0, one;
    if (!n) return 0;
    pipeline.have += n;
    while (used < pipeline.have && (one = whole_response(pipeline.bytes + used, pipeline.have - used))) used += one;
    memmove(pipeline.bytes, pipeline.bytes + used, pipeline.have - used);
    pipeline.have -= used;
    return 1;
}

static void work_on_pipeline(void) {
    fill_pipeline();
    do {
        send_pipeline();
        if (!read_responses()) return;
        fill_pipeline();
    } while (pipeline.finished < pipeline.target);
}
