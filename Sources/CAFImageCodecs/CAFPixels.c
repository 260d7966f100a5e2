#include "CAFImageCodecs.h"

#include <stdlib.h>
#include <string.h>

void *caf_pixels_allocate(size_t bytes) { return malloc(bytes ? bytes : 1); }

void caf_pixels_free(void *pixels) { free(pixels); }

// MARK: Alpha

// A product of two bytes, divided by 255 and rounded, without a division.
static inline uint8_t caf_scaled(uint8_t colour, uint8_t alpha) {
    uint32_t product = (uint32_t)colour * alpha + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

void caf_pixels_premultiply(const uint8_t *from, uint8_t *to, size_t count) {
    for (size_t i = 0; i < count; i++, from += 4, to += 4) {
        uint8_t alpha = from[3];
        to[0] = caf_scaled(from[0], alpha);
        to[1] = caf_scaled(from[1], alpha);
        to[2] = caf_scaled(from[2], alpha);
        to[3] = alpha;
    }
}

static inline uint8_t caf_unscaled(uint8_t colour, uint8_t alpha) {
    uint32_t value = ((uint32_t)colour * 255 + alpha / 2) / alpha;
    return value > 255 ? 255 : (uint8_t)value;
}

void caf_pixels_unpremultiply(const uint8_t *from, uint8_t *to, size_t count) {
    for (size_t i = 0; i < count; i++, from += 4, to += 4) {
        uint8_t alpha = from[3];
        to[0] = alpha ? caf_unscaled(from[0], alpha) : 0;
        to[1] = alpha ? caf_unscaled(from[1], alpha) : 0;
        to[2] = alpha ? caf_unscaled(from[2], alpha) : 0;
        to[3] = alpha;
    }
}

int caf_pixels_are_opaque(const uint8_t *pixels, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (pixels[4 * i + 3] != 255) return 0;
    return 1;
}

// MARK: Orientation

// Where pixels of a source go: that at (x, y) to `origin + x * along + y * down`.
struct caf_steps {
    size_t origin;
    ptrdiff_t along, down;
};

static struct caf_steps caf_steps_of(int orientation, size_t width, size_t height) {
    ptrdiff_t w = (ptrdiff_t)width, h = (ptrdiff_t)height;
    switch (orientation) {
    case 2: return (struct caf_steps){width - 1, -1, w};
    case 3: return (struct caf_steps){width * height - 1, -1, -w};
    case 4: return (struct caf_steps){(height - 1) * width, 1, -w};
    case 5: return (struct caf_steps){0, h, 1};
    case 6: return (struct caf_steps){height - 1, h, -1};
    case 7: return (struct caf_steps){width * height - 1, -h, -1};
    case 8: return (struct caf_steps){(width - 1) * height, -h, 1};
    default: return (struct caf_steps){0, 1, w};
    }
}

// The side of the squares in which a picture is turned: what is read and written stays in the cache.
#define CAF_TILE 32

void caf_pixels_orient(const uint8_t *from, uint8_t *to, size_t width, size_t height, int orientation) {
    if (!width || !height) return;
    struct caf_steps steps = caf_steps_of(orientation, width, height);
    for (size_t top = 0; top < height; top += CAF_TILE) {
        size_t bottom = height - top < CAF_TILE ? height : top + CAF_TILE;
        for (size_t left = 0; left < width; left += CAF_TILE) {
            size_t right = width - left < CAF_TILE ? width : left + CAF_TILE;
            for (size_t y = top; y < bottom; y++) {
                ptrdiff_t target = (ptrdiff_t)steps.origin + (ptrdiff_t)left * steps.along + (ptrdiff_t)y * steps.down;
                for (size_t x = left; x < right; x++, target += steps.along)
                    memcpy(to + 4 * target, from + 4 * (y * width + x), 4);
            }
        }
    }
}
