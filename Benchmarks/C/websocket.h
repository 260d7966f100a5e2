// What a frame of a WebSocket looks like (RFC 6455 §5.2), and its mask, for both ends.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FINAL = 0x80, MASKED = 0x80, BINARY = 0x2, CLOSE = 0x8, PING = 0x9, PONG = 0xA };
enum { MASK = 4, LONGEST_FRAME_HEAD = 14 };

// Masks bytes, or unmasks them, eight at a time, on their way to a place that may overlap theirs, if it does not begin
// behind them. `position` bytes of the payload stand before these.
static inline void mask_bytes(unsigned char *to, const unsigned char *from, size_t n, uint32_t key, uint64_t position) {
    unsigned turn = 8 * (position & 3);
    if (turn) key = key >> turn | key << (32 - turn);
    uint64_t wide = (uint64_t)key << 32 | key, word;
    size_t i = 0;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, from + i, sizeof word);
        word ^= wide;
        memcpy(to + i, &word, sizeof word);
    }
    for (; i < n; i++) to[i] = from[i] ^ (unsigned char)(key >> (8 * (i & 3)));
}

// Writes a head without its mask and returns its length.
static inline size_t write_frame_head(unsigned char *to, unsigned char first, unsigned char masked, uint64_t payload) {
    size_t extra = payload < 126 ? 0 : payload < 65536 ? 2 : 8;
    to[0] = first;
    to[1] = masked | (unsigned char)(extra == 0 ? payload : extra == 2 ? 126 : 127);
    for (size_t i = 0; i < extra; i++) to[2 + i] = (unsigned char)(payload >> (8 * (extra - 1 - i)));
    return 2 + extra;
}

// The length of a head that begins with these two bytes, its mask included.
static inline size_t frame_head_length(const unsigned char *head) {
    int length = head[1] & 0x7F;
    return (length < 126 ? 2u : length == 126 ? 4u : 10u) + (head[1] & MASKED ? MASK : 0u);
}

static inline uint64_t payload_length(const unsigned char *head) {
    int length = head[1] & 0x7F, extra = length < 126 ? 0 : length == 126 ? 2 : 8;
    uint64_t value = extra ? 0 : (uint64_t)length;
    for (int i = 0; i < extra; i++) value = value << 8 | head[2 + i];
    return value;
}
