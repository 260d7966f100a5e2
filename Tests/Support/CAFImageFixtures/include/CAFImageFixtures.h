#pragma once
// Pictures for tests, made by the encoders of the libraries.
#include <stddef.h>
#include <stdint.h>

typedef enum { CAFF_GREY, CAFF_COLOURS, CAFF_INKS, CAFF_ADOBE_INKS, CAFF_ADOBE_YCCK } caff_jpeg_space;

typedef struct {
    caff_jpeg_space space;
    int quality;
    int halves_colours;    // 4:2:0
    int is_progressive;
    int is_arithmetic;
    int scans_each_number; // progressive, with a scan for each coefficient of each component
    int restart_rows;
} caff_jpeg_options;

// Of four bytes for each pixel: red, green, blue and one that is ignored, or four inks as they are stored.
// NULL if the library refuses; to be given to caff_free.
uint8_t *caff_jpeg(const uint8_t *pixels, unsigned width, unsigned height, caff_jpeg_options options, size_t *count);

// Of red, green, blue and straight alpha; without loss if the quality is below zero.
uint8_t *caff_webp(const uint8_t *pixels, int width, int height, float quality, size_t *count);

void caff_free(uint8_t *bytes);
