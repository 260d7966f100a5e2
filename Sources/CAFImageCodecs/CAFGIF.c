#include "CAFCodec.h"

#ifdef CAF_HAS_GIF
#include <gif_lib.h>
#include <stdlib.h>
#include <string.h>

struct caf_gif_frames {
    GifFileType *gif;
    const uint8_t *bytes;
    size_t left;
    // What is shown, what was before a frame that is to be taken away again, and one row of colour numbers.
    uint8_t *canvas, *before;
    GifPixelType *line;
    // The frame that is shown: what becomes of it, and where it is.
    int disposal, left_edge, top_edge, width, height;
};

// MARK: Problems

static caf_image_status caf_gif_problem(struct caf_report *report, int code) {
    switch (code) {
    case D_GIF_ERR_READ_FAILED: return caf_report_problem(report, CAF_IMAGE_TRUNCATED, "the file ends early");
    case D_GIF_ERR_NOT_ENOUGH_MEM: return caf_report_problem(report, CAF_IMAGE_NO_MEMORY, "no memory");
    default: break;
    }
    const char *text = GifErrorString(code);
    return caf_report_problem(report, CAF_IMAGE_MALFORMED, text ? text : "the data is damaged");
}

static int caf_gif_take(GifFileType *gif, GifByteType *to, int count) {
    caf_gif_frames *frames = gif->UserData;
    size_t taken = count < 0 ? 0 : (size_t)count < frames->left ? (size_t)count : frames->left;
    memcpy(to, frames->bytes, taken);
    frames->bytes += taken;
    frames->left -= taken;
    return (int)taken;
}

// MARK: Life

void caf_gif_frames_close(caf_gif_frames *frames) {
    if (!frames) return;
    if (frames->gif) DGifCloseFile(frames->gif, NULL);
    free(frames->canvas);
    free(frames->before);
    free(frames->line);
    free(frames);
}

caf_image_status caf_gif_frames_open(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                     caf_gif_frames **frames, char *text, size_t room) {
    struct caf_report report = caf_report_to(text, room);
    caf_gif_frames *made = calloc(1, sizeof *made);
    if (!made) return caf_report_problem(&report, CAF_IMAGE_NO_MEMORY, "no memory");
    made->bytes = bytes;
    made->left = count;
    int code = 0;
    made->gif = DGifOpen(made, caf_gif_take, &code);
    if (!made->gif) {
        caf_gif_problem(&report, code);
    } else if ((uint32_t)made->gif->SWidth != width || (uint32_t)made->gif->SHeight != height) {
        caf_report_problem(&report, CAF_IMAGE_MALFORMED, "the header says something else to the library");
    } else if (!(made->canvas = calloc((size_t)width * height, 4))) {
        caf_report_problem(&report, CAF_IMAGE_NO_MEMORY, "no memory");
    }
    if (report.status != CAF_IMAGE_DONE) {
        caf_gif_frames_close(made);
        return report.status;
    }
    *frames = made;
    return CAF_IMAGE_DONE;
}

// MARK: Frames

static size_t caf_gif_canvas_bytes(const caf_gif_frames *frames) {
    return (size_t)frames->gif->SWidth * (size_t)frames->gif->SHeight * 4;
}

// The part of a row of the frame that is on the canvas.
static int caf_gif_shown_width(const caf_gif_frames *frames) {
    int room = frames->gif->SWidth - frames->left_edge;
    return room < 0 ? 0 : frames->width < room ? frames->width : room;
}

// Does with the frame that was shown last what it asked for.
static void caf_gif_dispose(caf_gif_frames *frames) {
    if (frames->disposal == DISPOSE_PREVIOUS && frames->before) {
        memcpy(frames->canvas, frames->before, caf_gif_canvas_bytes(frames));
    } else if (frames->disposal == DISPOSE_BACKGROUND) {
        // To nothing rather than to the colour that the file names: so do browsers.
        size_t count = (size_t)caf_gif_shown_width(frames) * 4;
        for (int y = frames->top_edge; y < frames->top_edge + frames->height && y < frames->gif->SHeight; y++)
            memset(frames->canvas + ((size_t)y * (size_t)frames->gif->SWidth + (size_t)frames->left_edge) * 4, 0, count);
    }
    frames->disposal = DISPOSAL_UNSPECIFIED;
}

static int caf_gif_remember(caf_gif_frames *frames) {
    size_t count = caf_gif_canvas_bytes(frames);
    if (!frames->before && !(frames->before = malloc(count))) return 0;
    memcpy(frames->before, frames->canvas, count);
    return 1;
}

static void caf_gif_draw_line(caf_gif_frames *frames, const ColorMapObject *colours, int y, int transparent) {
    int row = frames->top_edge + y, count = caf_gif_shown_width(frames);
    if (row >= frames->gif->SHeight) return;
    uint8_t *to = frames->canvas + ((size_t)row * (size_t)frames->gif->SWidth + (size_t)frames->left_edge) * 4;
    for (int x = 0; x < count; x++, to += 4) {
        int number = frames->line[x];
        if (number == transparent || number >= colours->ColorCount) continue;
        GifColorType colour = colours->Colors[number];
        to[0] = colour.Red;
        to[1] = colour.Green;
        to[2] = colour.Blue;
        to[3] = 0xFF;
    }
}

// Reads the lines of a frame, those of an interlaced one in four passes.
static caf_image_status caf_gif_read_lines(caf_gif_frames *frames, int transparent, struct caf_report *report) {
    static const int first[] = {0, 4, 2, 1}, step[] = {8, 8, 4, 2};
    const GifImageDesc *image = &frames->gif->Image;
    const ColorMapObject *colours = image->ColorMap ? image->ColorMap : frames->gif->SColorMap;
    if (!colours) return caf_report_problem(report, CAF_IMAGE_MALFORMED, "a frame has no colours");
    free(frames->line);
    frames->line = malloc((size_t)frames->width);
    if (!frames->line) return caf_report_problem(report, CAF_IMAGE_NO_MEMORY, "no memory");
    for (int pass = 0; pass < (image->Interlace ? 4 : 1); pass++) {
        int by = image->Interlace ? step[pass] : 1;
        for (int y = image->Interlace ? first[pass] : 0; y < frames->height; y += by) {
            if (DGifGetLine(frames->gif, frames->line, frames->width) != GIF_OK)
                return caf_gif_problem(report, frames->gif->Error);
            caf_gif_draw_line(frames, colours, y, transparent);
        }
    }
    return report->status;
}

static caf_image_status caf_gif_read_frame(caf_gif_frames *frames, GraphicsControlBlock control,
                                           struct caf_report *report) {
    if (DGifGetImageDesc(frames->gif) != GIF_OK) return caf_gif_problem(report, frames->gif->Error);
    const GifImageDesc *image = &frames->gif->Image;
    if (image->Width <= 0 || image->Height <= 0)
        return caf_report_problem(report, CAF_IMAGE_MALFORMED, "a frame has no pixels");
    caf_gif_dispose(frames);
    if (control.DisposalMode == DISPOSE_PREVIOUS && !caf_gif_remember(frames))
        return caf_report_problem(report, CAF_IMAGE_NO_MEMORY, "no memory");
    frames->disposal = control.DisposalMode;
    frames->left_edge = image->Left;
    frames->top_edge = image->Top;
    frames->width = image->Width;
    frames->height = image->Height;
    return caf_gif_read_lines(frames, control.TransparentColor, report);
}

static caf_image_status caf_gif_read_extension(caf_gif_frames *frames, GraphicsControlBlock *control,
                                               struct caf_report *report) {
    int kind;
    GifByteType *block;
    if (DGifGetExtension(frames->gif, &kind, &block) != GIF_OK) return caf_gif_problem(report, frames->gif->Error);
    // The first byte of a block is how many follow.
    if (kind == GRAPHICS_EXT_FUNC_CODE && block && block[0] == 4) DGifExtensionToGCB(block[0], block + 1, control);
    while (block)
        if (DGifGetExtensionNext(frames->gif, &block) != GIF_OK) return caf_gif_problem(report, frames->gif->Error);
    return report->status;
}

caf_image_status caf_gif_frames_next(caf_gif_frames *frames, uint8_t *pixels, int *delay, char *text, size_t room) {
    struct caf_report report = caf_report_to(text, room);
    GraphicsControlBlock control = {.TransparentColor = NO_TRANSPARENT_COLOR};
    for (;;) {
        GifRecordType type;
        if (DGifGetRecordType(frames->gif, &type) != GIF_OK) return caf_gif_problem(&report, frames->gif->Error);
        if (type == TERMINATE_RECORD_TYPE)
            return caf_report_problem(&report, CAF_IMAGE_TRUNCATED, "there are no more frames");
        if (type == EXTENSION_RECORD_TYPE && caf_gif_read_extension(frames, &control, &report) != CAF_IMAGE_DONE)
            return report.status;
        if (type != IMAGE_DESC_RECORD_TYPE) continue;
        if (caf_gif_read_frame(frames, control, &report) != CAF_IMAGE_DONE) return report.status;
        *delay = control.DelayTime;
        memcpy(pixels, frames->canvas, caf_gif_canvas_bytes(frames));
        return CAF_IMAGE_DONE;
    }
}

#endif
