#ifndef CAF_IMAGE_CODECS_H
#define CAF_IMAGE_CODECS_H

#include <stddef.h>
#include <stdint.h>

// Pixels are four bytes each, red, green, blue and alpha, and rows follow each other without gaps.
// Every function may be called from any thread. None prints, and none leaves by a jump.

// MARK: Pixels

/// Makes room for pixels. Returns NULL if there is no memory; the room is not cleared.
void *caf_pixels_allocate(size_t bytes);

/// Gives back what caf_pixels_allocate made.
void caf_pixels_free(void *pixels);

/// Multiplies colours by their alpha, from one place to another or in place.
void caf_pixels_premultiply(const uint8_t *from, uint8_t *to, size_t count);

/// Divides colours by their alpha, from one place to another or in place.
void caf_pixels_unpremultiply(const uint8_t *from, uint8_t *to, size_t count);

/// Whether the alpha of every pixel is 255.
int caf_pixels_are_opaque(const uint8_t *pixels, size_t count);

/// Turns a picture as an EXIF orientation from 1 to 8 says. `width` and `height` are those of `from`; from 5 on they are
/// exchanged in `to`.
void caf_pixels_orient(const uint8_t *from, uint8_t *to, size_t width, size_t height, int orientation);

// MARK: What codecs answer

typedef enum {
    CAF_IMAGE_DONE,
    CAF_IMAGE_TRUNCATED,
    CAF_IMAGE_MALFORMED,
    CAF_IMAGE_UNSUPPORTED,
    CAF_IMAGE_TOO_COSTLY,
    CAF_IMAGE_NO_MEMORY,
} caf_image_status;

// In all of these: `bytes` is a whole file, `width` and `height` are what its header says, and a file that says
// otherwise to the library is malformed. Pixels that were not filled are not to be looked at. `text` has `room` for what
// the library says, up to a NUL.

// MARK: PNG

/// Decodes to straight alpha; `has_alpha` tells whether the format of the pixels has any. Nothing is read of chunks that
/// are not needed for pixels.
caf_image_status caf_png_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, uint8_t *pixels,
                                int *has_alpha, char *text, size_t room);

/// What the alpha of pixels to encode means.
typedef enum { CAF_ALPHA_OPAQUE, CAF_ALPHA_STRAIGHT, CAF_ALPHA_PREMULTIPLIED } caf_alpha;

/// Encodes pixels; `bytes` is to be given to caf_png_free.
caf_image_status caf_png_encode(const uint8_t *pixels, uint32_t width, uint32_t height, caf_alpha alpha, uint8_t **bytes,
                                size_t *count, char *text, size_t room);
void caf_png_free(uint8_t *bytes);

// MARK: JPEG

/// Decodes to opaque pixels, at `eighths` eighths of the size: each side is multiplied by that, divided by eight, and
/// rounded up. `memory` is how much the library may have for itself.
caf_image_status caf_jpeg_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height, int eighths,
                                 size_t memory, uint8_t *pixels, char *text, size_t room);

// MARK: WebP

/// Decodes a picture that does not move to straight alpha, at another size if `scaled_width` is not zero.
caf_image_status caf_webp_decode(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                 uint32_t scaled_width, uint32_t scaled_height, uint8_t *pixels, int *has_alpha,
                                 char *text, size_t room);

/// Frames of an animation, each a whole picture with straight alpha. `bytes` must stay until it is closed.
typedef struct caf_webp_frames caf_webp_frames;

caf_image_status caf_webp_frames_open(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                      caf_webp_frames **frames, char *text, size_t room);
/// The next frame and how long it is shown, in milliseconds.
caf_image_status caf_webp_frames_next(caf_webp_frames *frames, uint8_t *pixels, int *delay, char *text, size_t room);
void caf_webp_frames_close(caf_webp_frames *frames);

// MARK: GIF

/// Frames of a GIF, each a whole picture with straight alpha. `bytes` must stay until it is closed.
typedef struct caf_gif_frames caf_gif_frames;

caf_image_status caf_gif_frames_open(const uint8_t *bytes, size_t count, uint32_t width, uint32_t height,
                                     caf_gif_frames **frames, char *text, size_t room);
/// The next frame and how long it is shown, in hundredths of a second.
caf_image_status caf_gif_frames_next(caf_gif_frames *frames, uint8_t *pixels, int *delay, char *text, size_t room);
void caf_gif_frames_close(caf_gif_frames *frames);

#endif
