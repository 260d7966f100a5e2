#include "CAFOpenSSL.h"

#include <limits.h>
#include <string.h>

// The first use of the library decides about its exit handler and its configuration file, and that may be a certificate
// read long before the first connection.
__attribute__((constructor)) static void caf_decide_first(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
}

int caf_openssl_init(void) {
    return OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT | OPENSSL_INIT_LOAD_SSL_STRINGS |
                                OPENSSL_INIT_LOAD_CRYPTO_STRINGS,
                            NULL);
}

// MARK: Stacks

int caf_x509_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }

X509 *caf_x509_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }

STACK_OF(X509) *caf_x509_stack(void) { return sk_X509_new_null(); }

int caf_x509_push(STACK_OF(X509) *stack, X509 *certificate) {
    if (!X509_up_ref(certificate)) return 0;
    if (sk_X509_push(stack, certificate) > 0) return 1;
    X509_free(certificate);
    return 0;
}

void caf_x509_free_all(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

// MARK: Contexts

// TLS 1.2 suites with forward secrecy and authenticated encryption only.
static const char caf_ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL:!eNULL:!PSK:!SRP:!DSS";

// Bytes of certificates that a server may show.
static const long caf_largest_chain = 100 * 1024;

static int caf_configure(SSL_CTX *context, int minimum, int maximum, int level, const char *ciphers, int resumption) {
    static const unsigned char protocols[] = "\x08http/1.1";
    uint64_t options = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | (resumption ? 0 : (uint64_t)SSL_OP_NO_TICKET);
#ifdef SSL_OP_NO_RX_CERTIFICATE_COMPRESSION
    // Offered by OpenSSL 3.2 and later, if it was built with a library for it.
    options |= SSL_OP_NO_RX_CERTIFICATE_COMPRESSION | SSL_OP_NO_TX_CERTIFICATE_COMPRESSION;
#endif
    const long mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS;
    // SSL_OP_LEGACY_SERVER_CONNECT would let renegotiation without binding pass.
    SSL_CTX_clear_options(context, SSL_OP_LEGACY_SERVER_CONNECT | SSL_OP_ALLOW_UNSAFE_LEGACY_RENEGOTIATION |
                                       SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_options(context, options);
    SSL_CTX_clear_mode(context, SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_mode(context, mode);
    SSL_CTX_set_session_cache_mode(context, resumption ? SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL
                                                       : SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_security_level(context, level);
    SSL_CTX_set_post_handshake_auth(context, 0);
    SSL_CTX_set_max_cert_list(context, caf_largest_chain);
    return SSL_CTX_set_min_proto_version(context, minimum) && SSL_CTX_set_max_proto_version(context, maximum) &&
           SSL_CTX_set_cipher_list(context, ciphers ? ciphers : caf_ciphers) &&
           SSL_CTX_set_alpn_protos(context, protocols, sizeof protocols - 1) == 0 &&
           (SSL_CTX_get_options(context) & options) == options && (SSL_CTX_get_mode(context) & mode) == mode &&
           SSL_CTX_get_verify_mode(context) == SSL_VERIFY_PEER && SSL_CTX_get_security_level(context) == level &&
           SSL_CTX_get_max_cert_list(context) == caf_largest_chain && SSL_CTX_get_min_proto_version(context) == minimum && SSL_CTX_get_max_proto_version(context) == maximum;
}

SSL_CTX *caf_client_context(int minimum, int maximum, int level, const char *ciphers, int resumption) {
    if (!caf_openssl_init()) return NULL;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (context && caf_configure(context, minimum, maximum, level, ciphers, resumption)) return context;
    SSL_CTX_free(context);
    return NULL;
}

// MARK: Bytes in and out

static int caf_window_read(BIO *bio, char *buffer, size_t wanted, size_t *count) {
    caf_tls_window *window = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (window->input_count == 0) {
        if (!window->input_ended) BIO_set_retry_read(bio);
        return 0;
    }
    if (wanted > window->input_count) wanted = window->input_count;
    memcpy(buffer, window->input, wanted);
    window->input += wanted;
    window->input_count -= wanted;
    *count = wanted;
    return 1;
}

static int caf_window_write(BIO *bio, const char *bytes, size_t wanted, size_t *count) {
    caf_tls_window *window = BIO_get_data(bio);
    size_t room = window->output_capacity - window->output_count;
    BIO_clear_retry_flags(bio);
    if (room == 0) {
        BIO_set_retry_write(bio);
        return 0;
    }
    if (wanted > room) wanted = room;
    memcpy(window->output + window->output_count, bytes, wanted);
    window->output_count += wanted;
    *count = wanted;
    return 1;
}

static long caf_window_control(BIO *bio, int command, long number, void *pointer) {
    caf_tls_window *window = BIO_get_data(bio);
    (void)number, (void)pointer;
    switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return window->input_count == 0 && window->input_ended;
    case BIO_CTRL_PENDING: return window->input_count > LONG_MAX ? LONG_MAX : (long)window->input_count;
    default: return 0;
    }
}

static BIO_METHOD *caf_window_method(void) {
    // Two threads that come first at once would each make one; the loser's is
    // dropped. Only the network thread makes connections, so this is theory.
    static BIO_METHOD *method;
    BIO_METHOD *made = __atomic_load_n(&method, __ATOMIC_ACQUIRE), *expected = NULL;
    if (made) return made;
    made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "caf window");
    if (!made || !BIO_meth_set_read_ex(made, caf_window_read) || !BIO_meth_set_write_ex(made, caf_window_write) ||
        !BIO_meth_set_ctrl(made, caf_window_control)) {
        BIO_meth_free(made);
        return NULL;
    }
    if (__atomic_compare_exchange_n(&method, &expected, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    BIO_meth_free(made);
    return expected;
}

static void caf_note_message(int is_write, int version, int type, const void *bytes, size_t count, SSL *ssl, void *argument) {
    caf_tls_window *window = argument;
    (void)version, (void)ssl;
    if (is_write) return;
    if (type == SSL3_RT_HANDSHAKE) window->control_messages++;
    if (type == SSL3_RT_ALERT && count == 2 && ((const unsigned char *)bytes)[0] == SSL3_AL_FATAL)
        window->alert = ((const unsigned char *)bytes)[1];
}

int caf_attach_window(SSL *ssl, caf_tls_window *window) {
    BIO_METHOD *method = caf_window_method();
    BIO *bio = method ? BIO_new(method) : NULL;
    if (!bio) return 0;
    BIO_set_data(bio, window);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    if (SSL_set_msg_callback_arg(ssl, window) != 1) return 0;
    SSL_set_msg_callback(ssl, caf_note_message);
    return 1;
}

int caf_set_server_name(SSL *ssl, const char *name) { return SSL_set_tlsext_host_name(ssl, name) == 1; }

int caf_suspend_verification(SSL *ssl) { return SSL_set_retry_verify(ssl) > 0; }

int caf_ex_data_index(void) { return SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL); }

int caf_use_identity(SSL *ssl, X509 *leaf, EVP_PKEY *key, STACK_OF(X509) *chain) {
    return SSL_use_cert_and_key(ssl, leaf, key, chain, 1);
}

uint16_t caf_cipher_id(const SSL *ssl) {
    const SSL_CIPHER *cipher = SSL_get_current_cipher(ssl);
    return cipher ? SSL_CIPHER_get_protocol_id(cipher) : 0;
}

int caf_has_peer_certificate(const SSL *ssl) { return SSL_get0_peer_certificate(ssl) != NULL; }

int caf_free_buffers(SSL *ssl) {
    // Up to 3.0.13, 3.1.5, 3.2.1 and 3.3.0 OpenSSL frees them between a record's header and its body, and while bytes of
    // one wait to be taken out, and goes on using them (CVE-2024-4741).
    if (SSL_has_pending(ssl) || strcmp(SSL_rstate_string(ssl), "RH") != 0) return 0;
    return SSL_free_buffers(ssl);
}

int caf_peer_authority_count(const SSL *ssl) {
    const STACK_OF(X509_NAME) *names = SSL_get0_peer_CA_list(ssl);
    return names ? sk_X509_NAME_num(names) : 0;
}

size_t caf_peer_authority(const SSL *ssl, int index, uint8_t *bytes, size_t capacity) {
    const X509_NAME *name = sk_X509_NAME_value(SSL_get0_peer_CA_list(ssl), index);
    int count = i2d_X509_NAME(name, NULL);
    if (count <= 0 || !bytes) return count > 0 ? (size_t)count : 0;
    return (size_t)count <= capacity ? (size_t)i2d_X509_NAME(name, &bytes) : 0;
}

// MARK: Errors

int caf_error_concerns_alpn(void) {
    // The reason given is that of any bad extension; only the place tells.
    const char *function = NULL;
    return ERR_peek_error_func(&function) != 0 && function && strstr(function, "stoc_alpn") != NULL;
}

void caf_clear_errors(void) {
    // To empty it costs much, and it is nearly always empty. An error may have the number 0, but has a file then.
    const char *file = NULL;
    if (ERR_peek_error_all(&file, NULL, NULL, NULL, NULL) != 0 || file) ERR_clear_error();
}

unsigned long caf_take_error(void) {
    unsigned long first = ERR_get_error();
    ERR_clear_error();
    return first;
}

int caf_error_library(unsigned long error) { return ERR_GET_LIB(error); }

int caf_error_reason(unsigned long error) { return ERR_GET_REASON(error); }

static size_t caf_copy_text(const char *from, char *text, size_t capacity) {
    size_t count = from ? strnlen(from, capacity) : 0;
    if (count > 0) memcpy(text, from, count);
    return count;
}

size_t caf_error_text(unsigned long error, char *text, size_t capacity) {
    return caf_copy_text(ERR_reason_error_string(error), text, capacity);
}

size_t caf_alert_name(int alert, char *text, size_t capacity) {
    return caf_copy_text(SSL_alert_desc_string_long(alert), text, capacity);
}
