// What Swift needs of OpenSSL: its headers, and a function for each macro.
#pragma once

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <stddef.h>
#include <stdint.h>

#include "CAFIdentity.h"
#include "CAFTrust.h"

// Initialises the library once, without reading its configuration file, without
// an exit handler (the network thread may still run then) and without engines.
int caf_openssl_init(void);

// MARK: Stacks of certificates and names

int caf_x509_count(const STACK_OF(X509) *stack);
X509 *caf_x509_at(const STACK_OF(X509) *stack, int index);
STACK_OF(X509) *caf_x509_stack(void);
int caf_x509_push(STACK_OF(X509) *stack, X509 *certificate); // keeps a reference of its own
void caf_x509_free_all(STACK_OF(X509) *stack);

// MARK: Contexts and connections

// A client context with every property set explicitly and read back: versions,
// security level, ciphers (NULL: our list), ALPN http/1.1, peer verification, no
// renegotiation, no compression, no internal session cache. NULL if one could
// not be set.
SSL_CTX *caf_client_context(int minimum, int maximum, int level, const char *ciphers, int resumption);

// MARK: Bytes in and out

// What a connection reads from and writes to: two windows that the caller moves.
// No system call happens inside OpenSSL.
typedef struct caf_tls_window {
    const uint8_t *input;
    size_t input_count;
    uint8_t *output;
    size_t output_capacity;
    size_t output_count;
    int input_ended;       // no more will come: reading past the window is the end
    int control_messages;  // handshake messages received; the caller sets it back
    int alert;             // the last fatal alert received, or -1
} caf_tls_window;

// Gives the connection a BIO over `window`, which must outlive it, and has its
// messages counted there.
int caf_attach_window(SSL *ssl, caf_tls_window *window);
int caf_set_server_name(SSL *ssl, const char *name);
int caf_suspend_verification(SSL *ssl);
int caf_ex_data_index(void);
int caf_use_identity(SSL *ssl, X509 *leaf, EVP_PKEY *key, STACK_OF(X509) *chain);
uint16_t caf_cipher_id(const SSL *ssl);
int caf_has_peer_certificate(const SSL *ssl);
// Gives back the buffers of records. 0, and nothing is given back, while a record is half read or half taken out.
int caf_free_buffers(SSL *ssl);
int caf_peer_authority_count(const SSL *ssl);
// The DER bytes of one name; their number if `bytes` is NULL.
size_t caf_peer_authority(const SSL *ssl, int index, uint8_t *bytes, size_t capacity);

// Empties the queue of this thread. Others who use OpenSSL may have left errors in it, which are not ours.
void caf_clear_errors(void);
// The error this thread met first, taken from its queue, which is empty then.
unsigned long caf_take_error(void);
// The error that would be taken now is about the protocol the server chose.
int caf_error_concerns_alpn(void);
int caf_error_library(unsigned long error);
int caf_error_reason(unsigned long error);
// What OpenSSL calls it: bytes written to `text`, no terminator.
size_t caf_error_text(unsigned long error, char *text, size_t capacity);
size_t caf_alert_name(int alert, char *text, size_t capacity);
