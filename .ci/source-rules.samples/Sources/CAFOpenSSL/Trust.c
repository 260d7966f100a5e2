// read(file, bytes, count) in a comment is none
#include "CAFTrust.h"

int caf_trust_read(int file, struct caf_text *text, char *name) {
    char *kept = malloc(16);  // expect: c-allocation
    memcpy(kept, name, 16);
    text->bytes = OPENSSL_malloc(16);  // expect: c-allocation
    if (!kept) return -1;
    text->bytes = malloc(16);
    if (!text->bytes) return -1;
    if (!text->more && !(text->more = calloc(1, 16))) return -1;
    uint8_t *larger = realloc(kept, 32);
    if (larger == NULL) return -1;
    strcpy(kept, name);  // expect: c-text
    sprintf(kept, "%s", name);  // expect: c-text
    snprintf(kept, 16, "%s", name);
    text->read(name);
    BIO_read(text->bio, kept, 16);
    return read(file, kept, 16);  // expect: c-system-call
}
