#pragma once
#include <stddef.h>
#include <zstd.h>

// RFC 9659: what is sent over HTTP needs a window of at most 8 MiB.
enum { CAF_ZSTD_WINDOW_LOG = 23 };

typedef struct {
    size_t consumed;
    size_t produced;
    // 0: a frame is complete.
    size_t hint;
} caf_zstd_result;

// NULL if there is no memory.
static inline ZSTD_DCtx *caf_zstd_make(void) {
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context != NULL) ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, CAF_ZSTD_WINDOW_LOG);
    return context;
}

static inline caf_zstd_result caf_zstd_decode(ZSTD_DCtx *context, const void *input, size_t input_count, void *output,
                                              size_t output_count) {
    ZSTD_inBuffer in = {input, input_count, 0};
    ZSTD_outBuffer out = {output, output_count, 0};
    const size_t hint = ZSTD_decompressStream(context, &out, &in);
    const caf_zstd_result result = {in.pos, out.pos, hint};
    return result;
}

// NULL if there is no memory.
static inline ZSTD_CCtx *caf_zstd_make_encoder(void) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    if (context != NULL) ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    return context;
}

// The hint is 0 when all that may not wait has been made.
static inline caf_zstd_result caf_zstd_encode(ZSTD_CCtx *context, ZSTD_EndDirective directive, const void *input,
                                              size_t input_count, void *output, size_t output_count) {
    ZSTD_inBuffer in = {input, input_count, 0};
    ZSTD_outBuffer out = {output, output_count, 0};
    const size_t hint = ZSTD_compressStream2(context, &out, &in, directive);
    const caf_zstd_result result = {in.pos, out.pos, hint};
    return result;
}
