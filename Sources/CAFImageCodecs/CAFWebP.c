#include "CAFCodec.h"

#ifdef CAF_HAS_WEBP
#include <stdlib.h>
#include <string.h>
#include <webp/decode.h>
#include <webp/demux.h>

static caf_image_status caf_webp_problem(struct caf_report *report, VP8StatusCode code) {
    switch (code) {
    case VP8_STATUS_OK: return report->status;
    case VP8_STATUS_OUT_OF_MEMORY: return caf_report_problem(report, CAF_IMAGE_NO_MEMORY, "no memory");
    case VP8_STATUS_NOT_ENOUGH_DATA: return caf_report_problem(report, CAF_IMAGE_TRUNCATED, "the file ends early");
    case VP8_STATUS_UNSUPPORTED_FEATURE: return caf_report_problem(report, CAF_IMAGE_UNSUPPORTED, "unknown feature");
    default: return caf_report_problem(report, CAF_IMAGE_MALFORMED, "the data is damaged");
    }
}

caf_image_status caf_webp_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                 uint32_t scaled_width, uint32_t scaled_height, uint8_t *pixels, int *has_alpha,
                                 char *text, size_t room) {
    struct caf_report report = caf_report_to(text, room);
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return caf_report_problem(&report, CAF_IMAGE_UNSUPPORTED, "the library has another version than its headers");
    VP8StatusCode code = WebPGetFeatures(bytes, count, &config.input);
    if (code != VP8_STATUS_OK) return caf_webp_problem(&report, code);
    if ((uint32_t)config.input.width != width || (uint32_t)config.input.height != height)
        return caf_report_problem(&report, CAF_IMAGE_MALFORMED, "the header says something else to the library");
    *has_alpha = config.input.has_alpha;
    if (scaled_width) {
        config.options.use_scaling = 1;
        config.options.scaled_width = (int)scaled_width;
        config.options.scaled_height = (int)scaled_height;
        width = scaled_width;
        height = scaled_height;
    }
    config.output.colorspace = MODE_RGBA;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = pixels;
    config.output.u.RGBA.stride = (int)(width * 4);
    config.output.u.RGBA.size = (size_t)width * 4 * height;
    code = WebPDecode(bytes, count, &config);
    WebPFreeDecBuffer(&config.output);
    return caf_webp_problem(&report, code);
}

// MARK: Animations

struct caf_webp_frames {
    WebPAnimDecoder *decoder;
    size_t canvas;
    int shown;
};

caf_image_status caf_webp_frames_open(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                      caf_webp_frames **frames, char *text, size_t room) {
    struct caf_report report = caf_report_to(text, room);
    WebPAnimDecoderOptions options;
    if (!WebPAnimDecoderOptionsInit(&options))
        return caf_report_problem(&report, CAF_IMAGE_UNSUPPORTED, "the library has another version than its headers");
    options.color_mode = MODE_RGBA;
    caf_webp_frames *made = calloc(1, sizeof *made);
    if (!made) return caf_report_problem(&report, CAF_IMAGE_NO_MEMORY, "no memory");
    WebPData data = {bytes, count};
    WebPAnimInfo info;
    made->decoder = WebPAnimDecoderNew(&data, &options);
    if (!made->decoder || !WebPAnimDecoderGetInfo(made->decoder, &info)) {
        caf_report_problem(&report, CAF_IMAGE_MALFORMED, "its frames do not belong together");
    } else if (info.canvas_width != width || info.canvas_height != height) {
        caf_report_problem(&report, CAF_IMAGE_MALFORMED, "the header says something else to the library");
    }
    if (report.status != CAF_IMAGE_DONE) {
        caf_webp_frames_close(made);
        return report.status;
    }
    made->canvas = (size_t)width * 4 * height;
    *frames = made;
    return CAF_IMAGE_DONE;
}

caf_image_status caf_webp_frames_next(caf_webp_frames *frames, uint8_t *pixels, int *delay, char *text, size_t room) {
    struct caf_report report = caf_report_to(text, room);
    uint8_t *canvas;
    int end;
    if (!WebPAnimDecoderGetNext(frames->decoder, &canvas, &end))
        return caf_report_problem(&report, CAF_IMAGE_MALFORMED, "a frame is damaged");
    memcpy(pixels, canvas, frames->canvas);
    *delay = end > frames->shown ? end - frames->shown : 0;
    frames->shown = end;
    return CAF_IMAGE_DONE;
}

void caf_webp_frames_close(caf_webp_frames *frames) {
    if (!frames) return;
    WebPAnimDecoderDelete(frames->decoder);
    free(frames);
}

#endif
