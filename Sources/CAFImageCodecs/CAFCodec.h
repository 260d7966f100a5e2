#ifndef CAF_CODEC_H
#define CAF_CODEC_H

#include "CAFImageCodecs.h"

#include <stdio.h>

// The files that the modules CAFLib… name: what is compiled is also linked. Without them a codec says so in its place.
#if __has_include("/usr/include/png.h")
#define CAF_HAS_PNG
#endif
#if __has_include("/usr/include/jpeglib.h")
#define CAF_HAS_JPEG
#endif
#if __has_include("/usr/include/webp/decode.h")
#define CAF_HAS_WEBP
#endif
#if __has_include("/usr/include/gif_lib.h")
#define CAF_HAS_GIF
#endif

// Where a codec is to write what went wrong. The first problem is the cause of the others.
struct caf_report {
    caf_image_status status;
    char *text;
    size_t room;
};

static inline struct caf_report caf_report_to(char *text, size_t room) {
    if (room) text[0] = 0;
    return (struct caf_report){CAF_IMAGE_DONE, text, room};
}

static inline caf_image_status caf_report_problem(struct caf_report *report, caf_image_status status, const char *text) {
    if (report->status == CAF_IMAGE_DONE) {
        report->status = status;
        if (report->room) snprintf(report->text, report->room, "%s", text);
    }
    return report->status;
}

#endif
