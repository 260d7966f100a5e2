// Private keys and PKCS#12 files.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <stddef.h>
#include <stdint.h>

typedef enum caf_identity_status {
    CAF_IDENTITY_READ,
    CAF_IDENTITY_MALFORMED,
    CAF_IDENTITY_PASSPHRASE_REQUIRED,
    CAF_IDENTITY_WRONG_PASSPHRASE,
    CAF_IDENTITY_UNPROTECTED, // without a MAC
    CAF_IDENTITY_UNSUPPORTED, // an algorithm that OpenSSL does not offer
    CAF_IDENTITY_NO_LEGACY,   // one that its legacy provider would, which cannot be loaded
    CAF_IDENTITY_EXCESSIVE,   // more rounds than a real file has
    CAF_IDENTITY_NO_KEY,
    CAF_IDENTITY_SEVERAL_KEYS,
    CAF_IDENTITY_UNUSABLE_KEY,
} caf_identity_status;

// What opens an encrypted file. Never asks on the terminal.
typedef struct caf_passphrase {
    const char *text;
    size_t count;
    int is_given; // none at all differs from an empty one
} caf_passphrase;

// Reads the private key in one PEM block: PKCS#8, PKCS#1 or SEC 1, encrypted or not.
// `modules` is where to look for the legacy provider; NULL: where OpenSSL does.
caf_identity_status caf_read_private_key(const uint8_t *pem, size_t count, const caf_passphrase *passphrase,
                                         const char *modules, EVP_PKEY **key);

// Reads a PKCS#12 file: its one private key and all its certificates, in the file's
// order. The caller frees both.
caf_identity_status caf_read_pkcs12(const uint8_t *bytes, size_t count, const caf_passphrase *passphrase,
                                    const char *modules, EVP_PKEY **key, STACK_OF(X509) **certificates);

// The key is that of the certificate.
int caf_key_belongs(X509 *certificate, EVP_PKEY *key);
// What the key signs, the certificate verifies.
int caf_key_works(X509 *certificate, EVP_PKEY *key);
