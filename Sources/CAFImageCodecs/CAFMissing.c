#include "CAFCodec.h"

// What stands for the codecs of libraries whose headers were missing when this was compiled.

#if !defined(CAF_HAS_PNG) || !defined(CAF_HAS_JPEG) || !defined(CAF_HAS_WEBP) || !defined(CAF_HAS_GIF)
static caf_image_status caf_missing(const char *package, char *text, size_t room) {
    if (room) snprintf(text, room, "this program was built without it; install %s, remove .build, and build again", package);
    return CAF_IMAGE_UNSUPPORTED;
}
#endif

#ifndef CAF_HAS_PNG
caf_image_status caf_png_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint8_t *pixels,
                                int *has_alpha, char *text, size_t room) {
    (void)bytes, (void)count, (void)width, (void)height, (void)pixels, (void)has_alpha;
    return caf_missing("libpng-dev", text, room);
}

caf_image_status caf_png_encode(const uint8_t *pixels, uint32_t width, uint32_t height, caf_alpha alpha, uint8_t **bytes,
                                size_t *count, char *text, size_t room) {
    (void)pixels, (void)width, (void)height, (void)alpha, (void)bytes, (void)count;
    return caf_missing("libpng-dev", text, room);
}

void caf_png_free(uint8_t *bytes) { (void)bytes; }
#endif

#ifndef CAF_HAS_JPEG
caf_image_status caf_jpeg_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, int eighths,
                                 size_t memory, uint8_t *pixels, char *text, size_t room) {
    (void)bytes, (void)count, (void)width, (void)height, (void)eighths, (void)memory, (void)pixels;
    return caf_missing("libjpeg-dev", text, room);
}
#endif

#ifndef CAF_HAS_WEBP
caf_image_status caf_webp_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                 uint32_t scaled_width, uint32_t scaled_height, uint8_t *pixels, int *has_alpha,
                                 char *text, size_t room) {
    (void)bytes, (void)count, (void)width, (void)height, (void)scaled_width, (void)scaled_height, (void)pixels;
    (void)has_alpha;
    return caf_missing("libwebp-dev", text, room);
}

caf_image_status caf_webp_frames_open(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                      caf_webp_frames **frames, char *text, size_t room) {
    (void)bytes, (void)count, (void)width, (void)height, (void)frames;
    return caf_missing("libwebp-dev", text, room);
}

caf_image_status caf_webp_frames_next(caf_webp_frames *frames, uint8_t *pixels, int *delay, char *text, size_t room) {
    (void)frames, (void)pixels, (void)delay;
    return caf_missing("libwebp-dev", text, room);
}

void caf_webp_frames_close(caf_webp_frames *frames) { (void)frames; }
#endif

#ifndef CAF_HAS_GIF
caf_image_status caf_gif_frames_open(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                     caf_gif_frames **frames, char *text, size_t room) {
    (void)bytes, (void)count, (void)width, (void)height, (void)frames;
    return caf_missing("libgif-dev", text, room);
}

caf_image_status caf_gif_frames_next(caf_gif_frames *frames, uint8_t *pixels, int *delay, char *text, size_t room) {
    (void)frames, (void)pixels, (void)delay;
    return caf_missing("libgif-dev", text, room);
}

void caf_gif_frames_close(caf_gif_frames *frames) { (void)frames; }
#endif
