#pragma once
// What of zlib is a macro, and one step of inflating with all of its counts as results. A stream has to stay where it
// was made, since zlib keeps its address, hence the heap.
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <zlib.h>

// The formats zlib tells apart by the sign and the size of its window argument.
typedef enum {
    CAF_FORMAT_GZIP = 15 + 16,
    CAF_FORMAT_ZLIB = 15,
    CAF_FORMAT_RAW = -15,
} caf_zlib_format;

typedef struct {
    size_t consumed;
    size_t produced;
    int status;
} caf_zlib_result;

// NULL if there is no memory. A negative number is a window of deflate with nothing around it.
static inline z_stream *caf_inflate_make(int format) {
    z_stream *stream = (z_stream *)calloc(1, sizeof(z_stream));
    if (stream != NULL && inflateInit2(stream, format) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static inline void caf_inflate_free(z_stream *stream) {
    if (stream == NULL) return;
    inflateEnd(stream);
    free(stream);
}

static inline uInt caf_zlib_count(size_t count) { return count > UINT_MAX ? UINT_MAX : (uInt)count; }

static inline caf_zlib_result caf_zlib_step(z_stream *stream, const void *input, size_t input_count, void *output,
                                            size_t output_count, int (*step)(z_stream *, int), int flush) {
    stream->next_in = (Bytef *)input;
    stream->avail_in = caf_zlib_count(input_count);
    stream->next_out = (Bytef *)output;
    stream->avail_out = caf_zlib_count(output_count);
    const uInt offered = stream->avail_in, room = stream->avail_out;
    const int status = step(stream, flush);
    const caf_zlib_result result = {offered - stream->avail_in, room - stream->avail_out, status};
    // They are the caller's, who may let go of them.
    stream->next_in = NULL;
    stream->next_out = NULL;
    stream->avail_in = 0;
    stream->avail_out = 0;
    return result;
}

static inline caf_zlib_result caf_inflate(z_stream *stream, const void *input, size_t input_count, void *output,
                                          size_t output_count) {
    return caf_zlib_step(stream, input, input_count, output, output_count, inflate, Z_NO_FLUSH);
}

// NULL if there is no memory. A negative number is a window of deflate with nothing around it, of 9 to 15 bits.
static inline z_stream *caf_deflate_make(int format) {
    z_stream *stream = (z_stream *)calloc(1, sizeof(z_stream));
    if (stream != NULL &&
        deflateInit2(stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, format, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(stream);
        return NULL;
    }
    return stream;
}

static inline void caf_deflate_free(z_stream *stream) {
    if (stream == NULL) return;
    deflateEnd(stream);
    free(stream);
}

static inline caf_zlib_result caf_deflate(z_stream *stream, const void *input, size_t input_count, void *output,
                                          size_t output_count, int flush) {
    return caf_zlib_step(stream, input, input_count, output, output_count, deflate, flush);
}
