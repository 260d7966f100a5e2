// What a server answers to the key of a WebSocket's handshake (RFC 6455 §4.2.2). Needs _GNU_SOURCE and OpenSSL.
#pragma once
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST_KEY = 64 };

// Writes the answer to the key in these fields to `accept`, which has room for 64 bytes. Returns 0 if there is none.
static inline int accept_key(const char *fields, char *accept) {
    static const char name[] = "\r\nsec-websocket-key:";
    char text[LONGEST_KEY + 64];
    unsigned char digest[SHA_DIGEST_LENGTH];
    const char *key = strcasestr(fields, name);
    if (!key) return 0;
    key += sizeof name - 1;
    key += strspn(key, " \t");
    size_t length = strcspn(key, " \t\r");
    if (length > LONGEST_KEY) return 0;
    int n = snprintf(text, sizeof text, "%.*s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", (int)length, key);
    SHA1((unsigned char *)text, (size_t)n, digest);
    EVP_EncodeBlock((unsigned char *)accept, digest, sizeof digest);
    return 1;
}
