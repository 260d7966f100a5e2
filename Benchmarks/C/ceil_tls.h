// Trust, pins, resumption, and sealing several records for one send.
#pragma once
#include "ceil_connection.h"
#include <openssl/pem.h>
#include <openssl/sha.h>

static SSL_SESSION *session;
static X509 *pinned;
static unsigned char pinned_key[SHA256_DIGEST_LENGTH];

static int keep_session(SSL *ssl, SSL_SESSION *fresh) {
    (void)ssl;
    if (session) SSL_SESSION_free(session);
    session = fresh;
    return 1;
}

// MARK: Pins

static void digest_key(X509 *certificate, unsigned char *digest) {
    unsigned char *der = NULL;
    int n = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &der);
    if (n <= 0) fail("a key cannot be encoded");
    SHA256(der, (size_t)n, digest);
    OPENSSL_free(der);
}

static int is_pinned(X509 *certificate) {
    unsigned char digest[SHA256_DIGEST_LENGTH];
    if (arguments.pins == PINS_CERTIFICATE) return X509_cmp(certificate, pinned) == 0;
    digest_key(certificate, digest);
    return !memcmp(digest, pinned_key, sizeof digest);
}

// Called for each certificate of a chain that was verified, the leaf last.
static int check_pins(int valid, X509_STORE_CTX *chain) {
    if (!valid || X509_STORE_CTX_get_error_depth(chain) > 0) return valid;
    STACK_OF(X509) *certificates = X509_STORE_CTX_get0_chain(chain);
    for (int i = 0; i < sk_X509_num(certificates); i++)
        if (is_pinned(sk_X509_value(certificates, i))) return 1;
    X509_STORE_CTX_set_error(chain, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
}

static void prepare_pins(void) {
    BIO *file = BIO_new_file(arguments.ca, "r");
    pinned = file ? PEM_read_bio_X509(file, NULL, NULL, NULL) : NULL;
    if (!pinned) refuse(&arguments, "no certificate to pin in ", arguments.ca);
    digest_key(pinned, pinned_key);
    BIO_free(file);
}

// MARK: The context

static void prepare_tls(void) {
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    if (arguments.ca) {
        if (!SSL_CTX_load_verify_locations(context, arguments.ca, NULL))
            refuse(&arguments, "cannot read certificates from ", arguments.ca);
        if (arguments.pins) prepare_pins();
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, arguments.pins ? check_pins : NULL);
    }
    if (arguments.resume) {
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        SSL_CTX_sess_set_new_cb(context, keep_session);
    }
}

// MARK: Sealed records, gathered (uploads only; there is one such connection at a time per buffer)

enum { SEALED = 4 * (16384 + 64) + 4096 };

typedef struct {
    int fd;
    size_t length, sent;
    char bytes[SEALED];
} sealed_t;

// 1 when nothing waits any more, 0 when the socket would block.
static int flush_sealed(BIO *bio) {
    sealed_t *s = BIO_get_data(bio);
    while (s->sent < s->length) {
        ssize_t n = send(s->fd, s->bytes + s->sent, s->length - s->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) return 0;
        if (n < 0) fail_with_errno("send");
        s->sent += (size_t)n;
    }
    s->length = s->sent = 0;
    return 1;
}

static int seal(BIO *bio, const char *record, int n) {
    sealed_t *s = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if ((size_t)n > SEALED - s->length && !flush_sealed(bio)) {
        BIO_set_retry_write(bio);
        return -1;
    }
    memcpy(s->bytes + s->length, record, (size_t)n);
    s->length += (size_t)n;
    return n;
}

static long control_sealed(BIO *bio, int command, long argument, void *pointer) {
    (void)argument, (void)pointer;
    if (command != BIO_CTRL_FLUSH) return 0;
    BIO_clear_retry_flags(bio);
    if (flush_sealed(bio)) return 1;
    BIO_set_retry_write(bio);
    return -1;
}

static int free_sealed(BIO *bio) {
    free(BIO_get_data(bio));
    return 1;
}

static BIO *gathering_bio(int fd) {
    static BIO_METHOD *method;
    if (!method) {
        method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "gathering");
        BIO_meth_set_write(method, seal);
        BIO_meth_set_ctrl(method, control_sealed);
        BIO_meth_set_destroy(method, free_sealed);
    }
    BIO *bio = BIO_new(method);
    sealed_t *s = malloc(sizeof *s);
    s->fd = fd;
    s->length = s->sent = 0;
    BIO_set_data(bio, s);
    BIO_set_init(bio, 1);
    return bio;
}

static void begin_tls(connection_t *c, int gathers) {
    c->ssl = SSL_new(context);
    if (gathers) {
        SSL_set_bio(c->ssl, BIO_new_socket(c->fd, BIO_NOCLOSE), gathering_bio(c->fd));
        SSL_clear_mode(c->ssl, SSL_MODE_ENABLE_PARTIAL_WRITE); // one call seals all of its records
    } else
        SSL_set_fd(c->ssl, c->fd);
    if (arguments.resume && session) SSL_set_session(c->ssl, session);
    SSL_set_connect_state(c->ssl);
}
