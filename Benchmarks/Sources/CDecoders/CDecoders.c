#include "CDecoders.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
// After stdio.h, which it needs.
#include <jpeglib.h>
#include <webp/decode.h>
#include <webp/encode.h>

uint64_t cdec_computed(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// MARK: JPEG

uint8_t *cdec_jpeg(const uint8_t *bytes, size_t count, size_t *pixel_bytes) {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, bytes, count);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_EXT_RGBA;
    jpeg_start_decompress(&jpeg);
    size_t stride = (size_t)jpeg.output_width * 4;
    *pixel_bytes = stride * jpeg.output_height;
    uint8_t *pixels = malloc(*pixel_bytes);
    while (pixels && jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = pixels + jpeg.output_scanline * stride;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    if (pixels) jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
    return pixels;
}

uint8_t *cdec_make_jpeg(const uint8_t *pixels, unsigned width, unsigned height, int is_progressive, size_t *count) {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &length);
    jpeg.image_width = width;
    jpeg.image_height = height;
    jpeg.input_components = 4;
    jpeg.in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 85, TRUE);
    if (is_progressive) jpeg_simple_progression(&jpeg);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < height) {
        JSAMPROW row = (JSAMPROW)pixels + (size_t)jpeg.next_scanline * width * 4;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *count = length;
    return bytes;
}

// MARK: PNG

struct cdec_source {
    const uint8_t *bytes;
    size_t left;
};

static void cdec_take(png_structp png, png_bytep to, size_t count) {
    struct cdec_source *source = png_get_io_ptr(png);
    if (count > source->left) png_error(png, "truncated");
    memcpy(to, source->bytes, count);
    source->bytes += count;
    source->left -= count;
}

uint8_t *cdec_png(const uint8_t *bytes, size_t count, size_t *pixel_bytes) {
    struct cdec_source source = {bytes, count};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    if (setjmp(png_jmpbuf(png))) return NULL; // nothing is freed: the program ends
    png_set_read_fn(png, &source, cdec_take);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    png_read_update_info(png, info);
    size_t stride = png_get_rowbytes(png, info), height = png_get_image_height(png, info);
    *pixel_bytes = stride * height;
    uint8_t *pixels = malloc(*pixel_bytes);
    for (size_t y = 0; pixels && y < height; y++) png_read_row(png, pixels + y * stride, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    return pixels;
}

// MARK: WebP

uint8_t *cdec_webp(const uint8_t *bytes, size_t count, size_t *pixel_bytes) {
    int width = 0, height = 0;
    if (!WebPGetInfo(bytes, count, &width, &height)) return NULL;
    *pixel_bytes = (size_t)width * 4 * (size_t)height;
    uint8_t *pixels = malloc(*pixel_bytes);
    if (pixels && !WebPDecodeRGBAInto(bytes, count, pixels, *pixel_bytes, width * 4)) {
        free(pixels);
        return NULL;
    }
    return pixels;
}

uint8_t *cdec_make_webp(const uint8_t *pixels, unsigned width, unsigned height, size_t *count) {
    uint8_t *encoded = NULL, *bytes = NULL;
    *count = WebPEncodeRGBA(pixels, (int)width, (int)height, (int)width * 4, 85, &encoded);
    if (*count && (bytes = malloc(*count))) memcpy(bytes, encoded, *count);
    WebPFree(encoded);
    return bytes;
}
