#include "CAFOpenSSL.h"

// MARK: Making certificates

EVP_PKEY *caf_make_key(const char *type, int bits, const char *curve, int explicit_curve) {
    OSSL_PARAM parameters[3], *next = parameters;
    EVP_PKEY *key = NULL;
    size_t count = bits < 0 ? 0 : (size_t)bits;
    if (bits != 0) *next++ = OSSL_PARAM_construct_size_t(OSSL_PKEY_PARAM_RSA_BITS, &count);
    // The casts only drop const: parameters that are set are not written to.
    if (curve) *next++ = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)(uintptr_t)curve, 0);
    if (explicit_curve)
        *next++ = OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_EC_ENCODING, (char *)(uintptr_t)"explicit", 0);
    *next = OSSL_PARAM_construct_end();

    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!context || EVP_PKEY_keygen_init(context) <= 0 || EVP_PKEY_CTX_set_params(context, parameters) <= 0 ||
        EVP_PKEY_generate(context, &key) <= 0)
        key = NULL;
    EVP_PKEY_CTX_free(context);
    return key;
}

// Few rounds: the passphrase of a test protects nothing.
enum { caf_pkcs12_rounds = 2048 };

static PKCS12 *caf_make_legacy_pkcs12(const char *passphrase, EVP_PKEY *key, X509 *leaf, STACK_OF(X509) *others) {
    OSSL_LIB_CTX *context = OSSL_LIB_CTX_new();
    OSSL_PROVIDER *legacy = context ? OSSL_PROVIDER_load(context, "legacy") : NULL;
    OSSL_PROVIDER *usual = context ? OSSL_PROVIDER_load(context, "default") : NULL;
    PKCS12 *made = NULL;
    if (legacy && usual)
        made = PKCS12_create_ex(passphrase, NULL, key, leaf, others, NID_pbe_WithSHA1And3_Key_TripleDES_CBC,
                                NID_pbe_WithSHA1And40BitRC2_CBC, caf_pkcs12_rounds, caf_pkcs12_rounds, 0, context,
                                NULL);
    // Only bytes leave the context, nothing that refers to it.
    unsigned char *bytes = NULL;
    int count = made ? i2d_PKCS12(made, &bytes) : 0;
    PKCS12_free(made);
    if (legacy) OSSL_PROVIDER_unload(legacy);
    if (usual) OSSL_PROVIDER_unload(usual);
    OSSL_LIB_CTX_free(context);

    const unsigned char *position = bytes;
    made = count > 0 ? d2i_PKCS12(NULL, &position, count) : NULL;
    OPENSSL_free(bytes);
    return made;
}

PKCS12 *caf_make_pkcs12(const char *passphrase, EVP_PKEY *key, X509 *leaf, STACK_OF(X509) *others, int legacy) {
    if (legacy) return caf_make_legacy_pkcs12(passphrase, key, leaf, others);
    return PKCS12_create(passphrase, NULL, key, leaf, others, 0, 0, caf_pkcs12_rounds, caf_pkcs12_rounds, 0);
}

// MARK: A server for tests

static int caf_configure_server(SSL_CTX *context, const caf_server_settings *settings) {
    static const unsigned char name[] = "test server";
    if (settings->tickets <= 0) SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, settings->sessions ? SSL_SESS_CACHE_SERVER : SSL_SESS_CACHE_OFF);
    SSL_CTX_set_security_level(context, settings->level);
    SSL_CTX_set_dh_auto(context, 1);
    return SSL_CTX_set_min_proto_version(context, settings->minimum) &&
           SSL_CTX_set_max_proto_version(context, settings->maximum) &&
           (!settings->ciphers || SSL_CTX_set_cipher_list(context, settings->ciphers)) &&
           (!settings->suites || SSL_CTX_set_ciphersuites(context, settings->suites)) &&
           (!settings->groups || SSL_CTX_set1_groups_list(context, settings->groups)) &&
           SSL_CTX_set_num_tickets(context, settings->tickets > 0 ? (size_t)settings->tickets : 0) &&
           SSL_CTX_set_max_early_data(context, settings->early_data) &&
           SSL_CTX_set_session_id_context(context, name, sizeof name - 1) &&
           SSL_CTX_set_tlsext_ticket_keys(context, (void *)(uintptr_t)settings->ticket_keys,
                                          sizeof settings->ticket_keys);
}

SSL_CTX *caf_server_context(const caf_server_settings *settings) {
    if (!caf_openssl_init()) return NULL;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context && caf_configure_server(context, settings)) return context;
    SSL_CTX_free(context);
    return NULL;
}

int caf_end_memory(BIO *bio) { return BIO_set_mem_eof_return(bio, 0) > 0; }

int caf_set_record_size(SSL *ssl, int bytes) { return SSL_set_max_send_fragment(ssl, bytes) > 0; }
