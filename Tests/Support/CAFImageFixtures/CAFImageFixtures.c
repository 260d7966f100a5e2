#include "CAFImageFixtures.h"

// AFImages links the libraries if it finds these headers. Without them there is nothing to test.
#if __has_include("/usr/include/jpeglib.h") && __has_include("/usr/include/webp/decode.h")

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
// After stdio.h, which it needs.
#include <jpeglib.h>
#include <webp/encode.h>

struct caff_call {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    unsigned char *bytes;
    unsigned long count;
    JSAMPLE *row;
};

static void caff_leave(j_common_ptr jpeg) {
    struct caff_call *call = jpeg->client_data;
    longjmp(call->jump, 1);
}

static void caff_set_space(struct jpeg_compress_struct *jpeg, caff_jpeg_space space) {
    static const J_COLOR_SPACE inputs[] = {JCS_GRAYSCALE, JCS_RGB, JCS_CMYK, JCS_CMYK, JCS_CMYK};
    jpeg->in_color_space = inputs[space];
    jpeg->input_components = space == CAFF_GREY ? 1 : space == CAFF_COLOURS ? 3 : 4;
    jpeg_set_defaults(jpeg);
    if (space == CAFF_ADOBE_YCCK) jpeg_set_colorspace(jpeg, JCS_YCCK);
    if (space == CAFF_INKS) jpeg->write_Adobe_marker = FALSE;
}

static int caff_make_scans(jpeg_scan_info *scans, int components) {
    int count = 0;
    for (int c = 0; c < components; c++) scans[count++] = (jpeg_scan_info){1, {c}, 0, 0, 0, 0};
    for (int c = 0; c < components; c++)
        for (int k = 1; k < 64; k++) scans[count++] = (jpeg_scan_info){1, {c}, k, k, 0, 0};
    return count;
}

static int caff_write(struct caff_call *call, const uint8_t *pixels, caff_jpeg_options options) {
    struct jpeg_compress_struct *jpeg = &call->jpeg;
    jpeg_scan_info scans[4 * 64];
    if (setjmp(call->jump)) return 0;
    jpeg_mem_dest(jpeg, &call->bytes, &call->count);
    caff_set_space(jpeg, options.space);
    jpeg_set_quality(jpeg, options.quality, TRUE);
    int sampling = options.halves_colours ? 2 : 1;
    jpeg->comp_info[0].h_samp_factor = jpeg->comp_info[0].v_samp_factor = sampling;
    if (options.space == CAFF_ADOBE_YCCK) jpeg->comp_info[3].h_samp_factor = jpeg->comp_info[3].v_samp_factor = sampling;
    if (options.is_progressive) jpeg_simple_progression(jpeg);
    if (options.scans_each_number) {
        jpeg->num_scans = caff_make_scans(scans, jpeg->num_components);
        jpeg->scan_info = scans;
    }
    jpeg->arith_code = options.is_arithmetic ? TRUE : FALSE;
    jpeg->restart_in_rows = options.restart_rows;
    jpeg_start_compress(jpeg, TRUE);
    int components = jpeg->input_components;
    call->row = malloc((size_t)jpeg->image_width * 4);
    if (!call->row) return 0;
    for (JDIMENSION y = 0; y < jpeg->image_height; y++) {
        for (JDIMENSION x = 0; x < jpeg->image_width; x++)
            memcpy(call->row + x * (unsigned)components, pixels + 4 * ((size_t)y * jpeg->image_width + x),
                   (size_t)components);
        jpeg_write_scanlines(jpeg, &call->row, 1);
    }
    jpeg_finish_compress(jpeg);
    return 1;
}

uint8_t *caff_jpeg(const uint8_t *pixels, unsigned width, unsigned height, caff_jpeg_options options, size_t *count) {
    struct caff_call call = {.count = 0};
    call.jpeg.err = jpeg_std_error(&call.errors);
    call.errors.error_exit = caff_leave;
    jpeg_create_compress(&call.jpeg);
    call.jpeg.client_data = &call;
    call.jpeg.image_width = width;
    call.jpeg.image_height = height;
    int is_done = caff_write(&call, pixels, options);
    jpeg_destroy_compress(&call.jpeg);
    free(call.row);
    if (!is_done) {
        free(call.bytes);
        return NULL;
    }
    *count = call.count;
    return call.bytes;
}

uint8_t *caff_webp(const uint8_t *pixels, int width, int height, float quality, size_t *count) {
    uint8_t *encoded = NULL, *bytes = NULL;
    if (quality < 0) {
        *count = WebPEncodeLosslessRGBA(pixels, width, height, width * 4, &encoded);
    } else {
        *count = WebPEncodeRGBA(pixels, width, height, width * 4, quality, &encoded);
    }
    if (*count && (bytes = malloc(*count))) memcpy(bytes, encoded, *count);
    WebPFree(encoded);
    return bytes;
}

void caff_free(uint8_t *bytes) { free(bytes); }

#else

uint8_t *caff_jpeg(const uint8_t *pixels, unsigned width, unsigned height, caff_jpeg_options options, size_t *count) {
    (void)pixels, (void)width, (void)height, (void)options, (void)count;
    return NULL;
}

uint8_t *caff_webp(const uint8_t *pixels, int width, int height, float quality, size_t *count) {
    (void)pixels, (void)width, (void)height, (void)quality, (void)count;
    return NULL;
}

void caff_free(uint8_t *bytes) { (void)bytes; }

#endif
