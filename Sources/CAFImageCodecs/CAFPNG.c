#include "CAFCodec.h"

#ifdef CAF_HAS_PNG
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

// One call of ours: all of it outlives the jump.
struct caf_png_call {
    jmp_buf jump;
    struct caf_report report;
    png_structp png;
    png_infop info;
    uint32_t width, height;
    // Reading.
    const uint8_t *bytes;
    size_t left;
    png_bytep *rows;
    // Writing.
    uint8_t *written, *row;
    size_t count, room;
};

// MARK: Problems

static void caf_png_fail(png_structp png, png_const_charp message) {
    struct caf_png_call *call = png_get_error_ptr(png);
    int is_about_memory = strstr(message, "memory") != NULL;
    caf_report_problem(&call->report, is_about_memory ? CAF_IMAGE_NO_MEMORY : CAF_IMAGE_MALFORMED, message);
    longjmp(call->jump, 1);
}

static void caf_png_ignore(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

// MARK: Decoding

static void caf_png_take(png_structp png, png_bytep to, size_t count) {
    struct caf_png_call *call = png_get_io_ptr(png);
    if (count > call->left) {
        caf_report_problem(&call->report, CAF_IMAGE_TRUNCATED, "the file ends early");
        png_error(png, "truncated");
    }
    memcpy(to, call->bytes, count);
    call->bytes += count;
    call->left -= count;
}

// Chunks that say nothing about pixels as we hand them out. Some are compressed; skipped, none is inflated or kept.
static void caf_png_skip_chunks(png_structp png) {
    static const png_byte names[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0"
                                    "sTER\0tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, names, (int)(sizeof names / 5));
}

static uint32_t caf_png_big32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// Whether the pixels depend on a chunk: on critical ones (their names begin with a capital), and on transparency.
static int caf_png_counts(const uint8_t *name) { return !(name[0] & 0x20) || memcmp(name, "tRNS", 4) == 0; }

// Refuses a wrong checksum of a chunk that the pixels depend on. What libpng makes of one differs between versions and
// chunks: it drops transparency, and 1.6.48 takes any checksum of IEND. It reports a file that ends early itself.
static void caf_png_check(struct caf_png_call *call) {
    size_t left = call->left > 8 ? call->left - 8 : 0;
    for (const uint8_t *chunk = call->bytes + 8; left >= 12;) {
        size_t length = caf_png_big32(chunk);
        if (length > left - 12) return;
        const uint8_t *name = chunk + 4, *checksum = name + 4 + length;
        if (caf_png_counts(name) && crc32(0, name, (uInt)(4 + length)) != caf_png_big32(checksum))
            png_error(call->png, "a chunk has a wrong checksum");
        if (memcmp(name, "IEND", 4) == 0) return;
        chunk = checksum + 4;
        left -= 12 + length;
    }
}

// Four bytes for each pixel, whatever there are in the file. Returns whether one of them is alpha.
static int caf_png_set_transforms(png_structp png, png_infop info) {
    int has_alpha = (png_get_color_type(png, info) & PNG_COLOR_MASK_ALPHA) || png_get_valid(png, info, PNG_INFO_tRNS);
    png_set_expand(png);
    if (png_get_bit_depth(png, info) == 16) png_set_scale_16(png);
    if (!(png_get_color_type(png, info) & PNG_COLOR_MASK_COLOR)) png_set_gray_to_rgb(png);
    if (!has_alpha) png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    return has_alpha;
}

static void caf_png_read_rows(struct caf_png_call *call, uint8_t *pixels) {
    size_t stride = (size_t)call->width * 4;
    if (png_get_interlace_type(call->png, call->info) == PNG_INTERLACE_NONE) {
        for (uint32_t y = 0; y < call->height; y++) png_read_row(call->png, pixels + y * stride, NULL);
        return;
    }
    call->rows = malloc(call->height * sizeof *call->rows);
    if (!call->rows) png_error(call->png, "no memory");
    for (uint32_t y = 0; y < call->height; y++) call->rows[y] = pixels + y * stride;
    png_read_image(call->png, call->rows);
}

static void caf_png_read(struct caf_png_call *call, uint8_t *pixels, int *has_alpha) {
    if (setjmp(call->jump)) return;
    call->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, call, caf_png_fail, caf_png_ignore);
    if (call->png) call->info = png_create_info_struct(call->png);
    if (!call->info) {
        caf_report_problem(&call->report, CAF_IMAGE_NO_MEMORY, "no memory");
        return;
    }
    caf_png_check(call);
    png_set_crc_action(call->png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
    png_set_read_fn(call->png, call, caf_png_take);
    png_set_user_limits(call->png, call->width, call->height);
    caf_png_skip_chunks(call->png);
    png_read_info(call->png, call->info);
    *has_alpha = caf_png_set_transforms(call->png, call->info);
    if (png_get_interlace_type(call->png, call->info) != PNG_INTERLACE_NONE) png_set_interlace_handling(call->png);
    png_read_update_info(call->png, call->info);
    if (png_get_image_width(call->png, call->info) != call->width ||
        png_get_image_height(call->png, call->info) != call->height ||
        png_get_rowbytes(call->png, call->info) != (size_t)call->width * 4)
        png_error(call->png, "the header says something else to the library");
    caf_png_read_rows(call, pixels);
    // A file that ends after its pixels is cut off all the same.
    png_read_end(call->png, NULL);
}

caf_image_status caf_png_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint8_t *pixels,
                                int *has_alpha, char *text, size_t room) {
    struct caf_png_call call = {
        .report = caf_report_to(text, room), .width = width, .height = height, .bytes = bytes, .left = count};
    caf_png_read(&call, pixels, has_alpha);
    png_destroy_read_struct(&call.png, &call.info, NULL);
    free(call.rows);
    return call.report.status;
}

// MARK: Encoding

static void caf_png_put(png_structp png, png_bytep from, size_t count) {
    struct caf_png_call *call = png_get_io_ptr(png);
    if (count > call->room - call->count) {
        size_t room = call->room * 2 > call->count + count ? call->room * 2 : call->count + count + 4096;
        uint8_t *grown = realloc(call->written, room);
        if (!grown) png_error(png, "no memory");
        call->written = grown;
        call->room = room;
    }
    memcpy(call->written + call->count, from, count);
    call->count += count;
}

static void caf_png_nothing(png_structp png) { (void)png; }

static void caf_png_write(struct caf_png_call *call, const uint8_t *pixels, caf_alpha alpha) {
    if (setjmp(call->jump)) return;
    call->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, call, caf_png_fail, caf_png_ignore);
    if (call->png) call->info = png_create_info_struct(call->png);
    if (!call->info) {
        caf_report_problem(&call->report, CAF_IMAGE_NO_MEMORY, "no memory");
        return;
    }
    png_set_write_fn(call->png, call, caf_png_put, caf_png_nothing);
    png_set_user_limits(call->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(call->png, call->info, call->width, call->height, 8,
                 alpha == CAF_ALPHA_OPAQUE ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_RGBA, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(call->png, call->info);
    if (alpha == CAF_ALPHA_OPAQUE) png_set_filler(call->png, 0, PNG_FILLER_AFTER);
    size_t stride = (size_t)call->width * 4;
    if (alpha == CAF_ALPHA_PREMULTIPLIED) {
        call->row = malloc(stride);
        if (!call->row) png_error(call->png, "no memory");
    }
    for (uint32_t y = 0; y < call->height; y++) {
        const uint8_t *row = pixels + y * stride;
        if (call->row) caf_pixels_unpremultiply(row, call->row, call->width);
        png_write_row(call->png, call->row ? call->row : row);
    }
    png_write_end(call->png, NULL);
}

caf_image_status caf_png_encode(const uint8_t *pixels, uint32_t width, uint32_t height, caf_alpha alpha, uint8_t **bytes,
                                size_t *count, char *text, size_t room) {
    struct caf_png_call call = {.report = caf_report_to(text, room), .width = width, .height = height};
    caf_png_write(&call, pixels, alpha);
    png_destroy_write_struct(&call.png, &call.info);
    free(call.row);
    if (call.report.status != CAF_IMAGE_DONE) {
        free(call.written);
        return call.report.status;
    }
    *bytes = call.written;
    *count = call.count;
    return CAF_IMAGE_DONE;
}

void caf_png_free(uint8_t *bytes) { free(bytes); }

#endif
