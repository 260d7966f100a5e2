// The command line that every client understands.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { PINS_NONE, PINS_SPKI, PINS_CERTIFICATE } pins_t;

typedef struct {
    const char *program, *url;
    long total, concurrency;
    long warm;          // requests before the measured ones
    long upload_stream; // bytes of a body of unknown length
    long post;          // bytes of a body that the program has in memory
    long message;       // WebSockets, one for each in flight, and the bytes of a message that comes back
    const char *ca;     // the only certificates to trust
    const char *out;    // where bodies go
    const char *upload; // the file to send
    const char *flood;  // what another connection is flooded with meanwhile: the path that begins it
    const char *style;  // which way of our own interface
    const char *known;  // what our session knows of hosts that it does not load from
    long known_count;   // how many of them
    pins_t pins;
    int close_each; // a new connection for every request
    int resume;     // with it: TLS sessions are resumed
    int idle;       // measure connections at rest
    int pipeline;   // all requests in flight on one connection
    int collect;    // the body is wanted as one value
    int coded;      // the body may come compressed
} arguments_t;

// For what a program cannot do, and for words it does not know.
static inline void refuse(const arguments_t *a, const char *what, const char *word) {
    fprintf(stderr, "%s: %s%s\n", a->program, what, word);
    exit(2);
}

static inline long number(const arguments_t *a, const char *text, long least) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end == text || *end || value < least) refuse(a, "not a fitting number: ", text);
    return value;
}

static inline int take_flag(arguments_t *a, const char *word) {
    if (!strcmp(word, "--close")) a->close_each = 1;
    else if (!strcmp(word, "--resume")) a->resume = 1;
    else if (!strcmp(word, "--idle")) a->idle = 1;
    else if (!strcmp(word, "--pipeline")) a->pipeline = 1;
    else if (!strcmp(word, "--collect")) a->collect = 1;
    else if (!strcmp(word, "--coded")) a->coded = 1;
    else return 0;
    return 1;
}

static inline pins_t pins_named(const arguments_t *a, const char *word) {
    if (!strcmp(word, "spki")) return PINS_SPKI;
    if (!strcmp(word, "certificate")) return PINS_CERTIFICATE;
    refuse(a, "--pins is spki or certificate, not ", word);
    return PINS_NONE;
}

static inline int take_option(arguments_t *a, const char *word, const char *value) {
    if (!value) return 0;
    if (!strcmp(word, "--warm")) a->warm = number(a, value, 0);
    else if (!strcmp(word, "--ca")) a->ca = value;
    else if (!strcmp(word, "--out")) a->out = value;
    else if (!strcmp(word, "--upload")) a->upload = value;
    else if (!strcmp(word, "--upload-stream")) a->upload_stream = number(a, value, 1);
    else if (!strcmp(word, "--post")) a->post = number(a, value, 1);
    else if (!strcmp(word, "--message")) a->message = number(a, value, 1);
    else if (!strcmp(word, "--pins")) a->pins = pins_named(a, value);
    else if (!strcmp(word, "--style")) a->style = value;
    else if (!strcmp(word, "--flood")) a->flood = value;
    else if (!strcmp(word, "--known")) a->known = value;
    else if (!strcmp(word, "--known-count")) a->known_count = number(a, value, 0);
    else return 0;
    return 1;
}

// A quick request to the server of `url`, for what the first request of a process costs.
static inline const char *quick_url(const arguments_t *a) {
    static char url[512];
    const char *host = strstr(a->url, "://"), *path = host ? strchr(host + 3, '/') : NULL;
    snprintf(url, sizeof url, "%.*s/small", path ? (int)(path - a->url) : (int)strlen(a->url), a->url);
    return url;
}

static inline arguments_t parse_arguments(int argc, char *const *argv) {
    const char *slash = strrchr(argv[0], '/');
    arguments_t a = {.program = slash ? slash + 1 : argv[0]};
    if (argc < 4)
        refuse(&a,
               "usage: URL TOTAL CONCURRENCY [--warm N] [--ca FILE] [--close [--resume]] [--pins spki|certificate]\n"
               "       [--out FILE | --upload FILE | --upload-stream BYTES | --post BYTES | --idle] [--pipeline]\n"
               "       [--collect] [--coded] [--style NAME] [--message BYTES] [--flood chunks|fragments|pings]\n"
               "       [--known NAME --known-count N]",
               "");
    a.url = argv[1];
    a.total = number(&a, argv[2], 1);
    a.concurrency = number(&a, argv[3], 1);
    for (int i = 4; i < argc; i++) {
        if (take_flag(&a, argv[i])) continue;
        if (!take_option(&a, argv[i], i + 1 < argc ? argv[i + 1] : NULL))
            refuse(&a, "unknown option, or its value is missing: ", argv[i]);
        i++;
    }
    if ((a.out != NULL) + (a.upload != NULL) + (a.upload_stream > 0) + (a.post > 0) + a.idle > 1)
        refuse(&a, "one of --out, --upload, --upload-stream, --post and --idle at a time", "");
    if (a.collect && a.out) refuse(&a, "a body that goes to a file is not collected: leave --collect away", "");
    if (a.out && a.concurrency > 1) refuse(&a, "one file: --out goes with CONCURRENCY 1", "");
    if (a.pipeline && (a.upload || a.upload_stream || a.post || a.out || a.close_each || a.idle))
        refuse(&a, "--pipeline is for small requests on one connection, without other modes", "");
    if (a.message && (a.upload || a.upload_stream || a.post || a.out || a.close_each || a.pipeline))
        refuse(&a, "--message is for WebSockets, which know no other mode than --idle", "");
    if (a.pins && !a.ca) refuse(&a, "the pins are made of the certificate in --ca, which is missing", "");
    return a;
}
