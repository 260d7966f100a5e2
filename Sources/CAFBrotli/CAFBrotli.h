#pragma once
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t consumed;
    size_t produced;
    BrotliDecoderResult status;
} caf_brotli_result;

static inline BrotliDecoderState *caf_brotli_make(void) { return BrotliDecoderCreateInstance(NULL, NULL, NULL); }

static inline caf_brotli_result caf_brotli_decode(BrotliDecoderState *state, const void *input, size_t input_count,
                                                  void *output, size_t output_count) {
    const uint8_t *next_in = (const uint8_t *)input;
    uint8_t *next_out = (uint8_t *)output;
    size_t left = input_count, room = output_count;
    const BrotliDecoderResult status = BrotliDecoderDecompressStream(state, &left, &next_in, &room, &next_out, NULL);
    const caf_brotli_result result = {input_count - left, output_count - room, status};
    return result;
}

// How much work brotli may do for a body that is made once and sent at once: 5 of 11, about as long as gzip takes.
enum { CAF_BROTLI_QUALITY = 5 };

// NULL if there is no memory.
static inline BrotliEncoderState *caf_brotli_make_encoder(void) {
    BrotliEncoderState *state = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    if (state != NULL) BrotliEncoderSetParameter(state, BROTLI_PARAM_QUALITY, CAF_BROTLI_QUALITY);
    return state;
}

typedef struct {
    size_t consumed;
    size_t produced;
    int status;
} caf_brotli_encoded;

static inline caf_brotli_encoded caf_brotli_encode(BrotliEncoderState *state, BrotliEncoderOperation operation,
                                                   const void *input, size_t input_count, void *output,
                                                   size_t output_count) {
    const uint8_t *next_in = (const uint8_t *)input;
    uint8_t *next_out = (uint8_t *)output;
    size_t left = input_count, room = output_count;
    const int status = BrotliEncoderCompressStream(state, operation, &left, &next_in, &room, &next_out, NULL);
    const caf_brotli_encoded result = {input_count - left, output_count - room, status};
    return result;
}
