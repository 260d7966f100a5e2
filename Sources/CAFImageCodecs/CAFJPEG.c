#include "CAFCodec.h"

#ifdef CAF_HAS_JPEG
#include <stdio.h>
// After stdio.h, which it needs.
#include <jpeglib.h>
#include <jerror.h>
#include <limits.h>
#include <setjmp.h>

// A progressive picture of a few kilobytes can name thousands of scans, each of which goes over all of it. Those that
// people make have about ten.
#define CAF_MOST_SCANS 100

#define CAF_ROWS_AT_ONCE 16

// One call of ours: all of it outlives the jump. The library hands out pointers to the managers, which stand first or
// are found by `client_data`.
struct caf_jpeg_call {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    struct caf_report report;
};

// MARK: Problems

static caf_image_status caf_jpeg_status(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY: return CAF_IMAGE_NO_MEMORY;
    case JERR_NO_BACKING_STORE: return CAF_IMAGE_TOO_COSTLY;
    case JERR_SOF_UNSUPPORTED:
    case JERR_BAD_PRECISION:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOTIMPL:
    case JERR_NOT_COMPILED: return CAF_IMAGE_UNSUPPORTED;
    default: return CAF_IMAGE_MALFORMED;
    }
}

static void caf_jpeg_leave(j_common_ptr jpeg, caf_image_status status, const char *text) {
    struct caf_jpeg_call *call = jpeg->client_data;
    caf_report_problem(&call->report, status, text);
    longjmp(call->jump, 1);
}

static void caf_jpeg_fail(j_common_ptr jpeg) {
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    caf_jpeg_leave(jpeg, caf_jpeg_status(jpeg->err->msg_code), text);
}

// The library warns where it makes up pixels for those it cannot read. A picture with such pixels is not the one that
// was sent.
static void caf_jpeg_message(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    switch (jpeg->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA: return;
    default: caf_jpeg_fail(jpeg);
    }
}

static void caf_jpeg_print(j_common_ptr jpeg) { (void)jpeg; }

static void caf_jpeg_progress(j_common_ptr jpeg) {
    struct caf_jpeg_call *call = jpeg->client_data;
    if (call->jpeg.input_scan_number > CAF_MOST_SCANS)
        caf_jpeg_leave(jpeg, CAF_IMAGE_TOO_COSTLY, "it has more than 100 scans");
}

// MARK: Bytes

static void caf_jpeg_nothing(j_decompress_ptr jpeg) { (void)jpeg; }

static boolean caf_jpeg_fill(j_decompress_ptr jpeg) {
    caf_jpeg_leave((j_common_ptr)jpeg, CAF_IMAGE_TRUNCATED, "the file ends early");
    return FALSE;
}

static void caf_jpeg_skip(j_decompress_ptr jpeg, long count) {
    if (count <= 0) return;
    if ((size_t)count > jpeg->src->bytes_in_buffer) caf_jpeg_fill(jpeg);
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void caf_jpeg_begin(struct caf_jpeg_call *call, const uint8_t *bytes, size_t count, size_t memory) {
    jpeg_create_decompress(&call->jpeg);
    // Read anew by each picture's manager from the environment, and overruled here.
    call->jpeg.mem->max_memory_to_use = memory > LONG_MAX ? LONG_MAX : (long)memory;
    call->progress.progress_monitor = caf_jpeg_progress;
    call->jpeg.progress = &call->progress;
    call->source = (struct jpeg_source_mgr){
        .next_input_byte = bytes,
        .bytes_in_buffer = count,
        .init_source = caf_jpeg_nothing,
        .fill_input_buffer = caf_jpeg_fill,
        .skip_input_data = caf_jpeg_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = caf_jpeg_nothing,
    };
    call->jpeg.src = &call->source;
}

// MARK: Pixels

static inline uint8_t caf_product(uint8_t a, uint8_t b) { return (uint8_t)(((uint32_t)a * b + 127) / 255); }

// Inks to light, in place. Adobe's programs, and so nearly all that write such files, store how much is *not* printed.
static void caf_jpeg_mix_inks(uint8_t *row, size_t count, int is_inverted) {
    uint8_t mask = is_inverted ? 0 : 0xFF;
    for (size_t i = 0; i < count; i++, row += 4) {
        uint8_t key = row[3] ^ mask;
        row[0] = caf_product(row[0] ^ mask, key);
        row[1] = caf_product(row[1] ^ mask, key);
        row[2] = caf_product(row[2] ^ mask, key);
        row[3] = 0xFF;
    }
}

static void caf_jpeg_read_rows(struct caf_jpeg_call *call, uint8_t *pixels) {
    size_t stride = (size_t)call->jpeg.output_width * 4;
    int has_inks = call->jpeg.out_color_space == JCS_CMYK;
    while (call->jpeg.output_scanline < call->jpeg.output_height) {
        JSAMPROW rows[CAF_ROWS_AT_ONCE];
        JDIMENSION left = call->jpeg.output_height - call->jpeg.output_scanline;
        JDIMENSION wanted = left < CAF_ROWS_AT_ONCE ? left : CAF_ROWS_AT_ONCE;
        uint8_t *first = pixels + call->jpeg.output_scanline * stride;
        for (JDIMENSION i = 0; i < wanted; i++) rows[i] = first + i * stride;
        JDIMENSION read = jpeg_read_scanlines(&call->jpeg, rows, wanted);
        if (has_inks)
            caf_jpeg_mix_inks(first, (size_t)read * call->jpeg.output_width, call->jpeg.saw_Adobe_marker);
    }
}

static uint32_t caf_eighths(uint32_t side, int eighths) { return (uint32_t)(((uint64_t)side * (unsigned)eighths + 7) / 8); }

static void caf_jpeg_read(struct caf_jpeg_call *call, const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                          int eighths, size_t memory, uint8_t *pixels) {
    struct jpeg_decompress_struct *jpeg = &call->jpeg;
    if (setjmp(call->jump)) return;
    caf_jpeg_begin(call, bytes, count, memory);
    jpeg_read_header(jpeg, TRUE);
    int has_inks = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = has_inks ? JCS_CMYK : JCS_EXT_RGBA;
    jpeg->scale_num = (unsigned)eighths;
    jpeg->scale_denom = 8;
    jpeg_calc_output_dimensions(jpeg);
    if (jpeg->image_width != width || jpeg->image_height != height ||
        jpeg->output_width != caf_eighths(width, eighths) || jpeg->output_height != caf_eighths(height, eighths))
        caf_jpeg_leave((j_common_ptr)jpeg, CAF_IMAGE_MALFORMED, "the header says something else to the library");
    jpeg_start_decompress(jpeg);
    caf_jpeg_read_rows(call, pixels);
    // A file that ends after its pixels is cut off all the same.
    jpeg_finish_decompress(jpeg);
}

caf_image_status caf_jpeg_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, int eighths,
                                 size_t memory, uint8_t *pixels, char *text, size_t room) {
    struct caf_jpeg_call call = {.report = caf_report_to(text, room)};
    call.jpeg.err = jpeg_std_error(&call.errors);
    call.jpeg.client_data = &call;
    call.errors.error_exit = caf_jpeg_fail;
    call.errors.emit_message = caf_jpeg_message;
    call.errors.output_message = caf_jpeg_print;
    caf_jpeg_read(&call, bytes, count, width, height, eighths, memory, pixels);
    jpeg_destroy_decompress(&call.jpeg);
    return call.report.status;
}

#endif
