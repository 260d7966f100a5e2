// What the certificate authorities and the server for tests need of OpenSSL.
#pragma once

#include <CAFOpenSSL.h>

#include <stddef.h>
#include <stdint.h>

// MARK: Making certificates

// A new key. `type` as OpenSSL names it; `bits` for RSA, `curve` for EC, where
// the curve is written out as numbers if `explicit_curve`.
EVP_PKEY *caf_make_key(const char *type, int bits, const char *curve, int explicit_curve);

// `passphrase` may be NULL, which is not the same as an empty one. `legacy` takes
// RC2 and triple DES, from the legacy provider, in a library context of its own:
// the process sees nothing of it.
PKCS12 *caf_make_pkcs12(const char *passphrase, EVP_PKEY *key, X509 *leaf, STACK_OF(X509) *others, int legacy);

// MARK: A server for tests

typedef struct caf_server_settings {
    int minimum, maximum, level;
    const char *ciphers, *suites, *groups; // NULL: OpenSSL's own
    int tickets;                           // how many; 0: none of either version
    int sessions;                          // whether sessions are kept by their ids
    uint32_t early_data;                   // what a ticket promises
    uint8_t ticket_keys[80];
} caf_server_settings;

// A server context that sends exactly the chain it is given. NULL if a setting is refused.
SSL_CTX *caf_server_context(const caf_server_settings *settings);

// MARK: Records of our own

// Encrypts one TLS 1.2 record of an AES-GCM suite. Returns its size, 0 if that is
// not possible.
size_t caf_seal_old_record(const SSL *ssl, uint64_t sequence, uint8_t type, const uint8_t *bytes, size_t count,
                           uint8_t *record, size_t capacity);

// Encrypts one TLS 1.3 record with the keys that belong to `secret`. Returns its
// size, 0 if that is not possible.
size_t caf_seal_record(const SSL *ssl, const uint8_t *secret, size_t secret_count, uint64_t sequence, uint8_t type,
                       const uint8_t *bytes, size_t count, uint8_t *record, size_t capacity);
