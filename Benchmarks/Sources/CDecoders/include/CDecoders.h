#pragma once
// The libraries called as a program in C calls them: a picture in memory to four bytes for each pixel.
#include <stddef.h>
#include <stdint.h>

// Pixels to be freed; NULL if the library fails.
uint8_t *cdec_jpeg(const uint8_t *bytes, size_t count, size_t *pixel_bytes);
uint8_t *cdec_png(const uint8_t *bytes, size_t count, size_t *pixel_bytes);
uint8_t *cdec_webp(const uint8_t *bytes, size_t count, size_t *pixel_bytes);

// A file of pixels, to be freed: 4:2:0, quality 85.
uint8_t *cdec_make_jpeg(const uint8_t *pixels, unsigned width, unsigned height, int is_progressive, size_t *count);
uint8_t *cdec_make_webp(const uint8_t *pixels, unsigned width, unsigned height, size_t *count);

// What this process has computed so far, in nanoseconds: what others do meanwhile is not in it.
uint64_t cdec_computed(void);
