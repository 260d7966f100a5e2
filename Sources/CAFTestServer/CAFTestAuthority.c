#include "CAFTestAuthority.h"

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <string.h>

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

// MARK: Records of our own

// HKDF-Expand-Label with an empty context (RFC 8446 section 7.1).
static int caf_expand(const EVP_MD *digest, const uint8_t *secret, size_t secret_count, const char *label,
                      uint8_t *output, size_t count) {
    int mode = EVP_KDF_HKDF_MODE_EXPAND_ONLY;
    // The casts only drop const: parameters that are set are not written to.
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_int(OSSL_KDF_PARAM_MODE, &mode),
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)(uintptr_t)EVP_MD_get0_name(digest), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)(uintptr_t)secret, secret_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_PREFIX, (void *)(uintptr_t)"tls13 ", 6),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_LABEL, (void *)(uintptr_t)label, strlen(label)),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS13-KDF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    int result = context && EVP_KDF_derive(context, output, count, parameters) > 0;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    return result;
}

static const EVP_CIPHER *caf_record_cipher(const SSL_CIPHER *suite) {
    switch (SSL_CIPHER_get_protocol_id(suite)) {
    case 0x1301: return EVP_aes_128_gcm();
    case 0x1302: return EVP_aes_256_gcm();
    case 0x1303: return EVP_chacha20_poly1305();
    default: return NULL;
    }
}

enum { caf_record_head = 5, caf_record_tag = 16, caf_record_nonce = 12 };

static int caf_seal(const EVP_CIPHER *cipher, const uint8_t *key, const uint8_t *nonce, const uint8_t *head,
                    size_t head_count, const uint8_t *bytes, size_t count, uint8_t *sealed) {
    int used = 0, result = 0;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    if (context && EVP_EncryptInit_ex2(context, cipher, key, nonce, NULL) &&
        EVP_EncryptUpdate(context, NULL, &used, head, (int)head_count) &&
        (count == 0 || EVP_EncryptUpdate(context, sealed, &used, bytes, (int)count)) &&
        EVP_EncryptFinal_ex(context, sealed + count, &used))
        result = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, caf_record_tag, sealed + count) > 0;
    EVP_CIPHER_CTX_free(context);
    return result;
}

// The key block of TLS 1.2 (RFC 5246 section 6.3): two keys, then two beginnings of nonces.
static int caf_key_block(const SSL *ssl, const EVP_MD *digest, uint8_t *output, size_t count) {
    static const char label[] = "key expansion";
    uint8_t master[SSL_MAX_MASTER_KEY_LENGTH], seed[sizeof label - 1 + 2 * SSL3_RANDOM_SIZE];
    size_t master_count = SSL_SESSION_get_master_key(SSL_get_session(ssl), master, sizeof master);
    memcpy(seed, label, sizeof label - 1);
    SSL_get_server_random(ssl, seed + sizeof label - 1, SSL3_RANDOM_SIZE);
    SSL_get_client_random(ssl, seed + sizeof label - 1 + SSL3_RANDOM_SIZE, SSL3_RANDOM_SIZE);
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)(uintptr_t)EVP_MD_get0_name(digest), 0),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SECRET, master, master_count),
        OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SEED, seed, sizeof seed),
        OSSL_PARAM_construct_end(),
    };
    EVP_KDF *kdf = EVP_KDF_fetch(NULL, "TLS1-PRF", NULL);
    EVP_KDF_CTX *context = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
    int result = context && EVP_KDF_derive(context, output, count, parameters) > 0;
    EVP_KDF_CTX_free(context);
    EVP_KDF_free(kdf);
    OPENSSL_cleanse(master, sizeof master);
    return result;
}

size_t caf_seal_old_record(const SSL *ssl, uint64_t sequence, uint8_t type, const uint8_t *bytes, size_t count,
                           uint8_t *record, size_t capacity) {
    enum { start_count = 4, own_count = 8 };
    const SSL_CIPHER *suite = SSL_get_current_cipher(ssl);
    const int kind = suite && SSL_version(ssl) == TLS1_2_VERSION ? SSL_CIPHER_get_cipher_nid(suite) : NID_undef;
    const EVP_CIPHER *cipher = kind == NID_aes_128_gcm   ? EVP_aes_128_gcm()
                               : kind == NID_aes_256_gcm ? EVP_aes_256_gcm()
                                                         : NULL;
    const size_t body = own_count + count + caf_record_tag;
    if (!cipher || capacity < caf_record_head + body || count > 1 << 14) return 0;
    const size_t key_count = (size_t)EVP_CIPHER_get_key_length(cipher);
    uint8_t block[2 * EVP_MAX_KEY_LENGTH + 2 * start_count], nonce[caf_record_nonce], head[own_count + caf_record_head];
    if (!caf_key_block(ssl, SSL_CIPHER_get_handshake_digest(suite), block, 2 * key_count + 2 * start_count)) return 0;

    // What is signed along: the number of the record, then its head with the length of the content.
    for (int i = 0; i < own_count; i++) head[i] = (uint8_t)(sequence >> (8 * (own_count - 1 - i)));
    const uint8_t end[caf_record_head] = {type, 3, 3, (uint8_t)(count >> 8), (uint8_t)count};
    memcpy(head + own_count, end, sizeof end);
    // The rest of the nonce stands in the record, and need only be new. OpenSSL counts from a random number.
    memcpy(nonce, block + 2 * key_count + start_count, start_count);
    memcpy(nonce + start_count, head, own_count);
    nonce[start_count] ^= 0x5A;

    const uint8_t outer[caf_record_head] = {type, 3, 3, (uint8_t)(body >> 8), (uint8_t)body};
    memcpy(record, outer, sizeof outer);
    memcpy(record + caf_record_head, nonce + start_count, own_count);
    uint8_t *sealed = record + caf_record_head + own_count;
    int result = caf_seal(cipher, block + key_count, nonce, head, sizeof head, bytes, count, sealed);
    OPENSSL_cleanse(block, sizeof block);
    return result ? caf_record_head + body : 0;
}

size_t caf_seal_record(const SSL *ssl, const uint8_t *secret, size_t secret_count, uint64_t sequence, uint8_t type,
                       const uint8_t *bytes, size_t count, uint8_t *record, size_t capacity) {
    const SSL_CIPHER *suite = SSL_get_current_cipher(ssl);
    const EVP_CIPHER *cipher = suite ? caf_record_cipher(suite) : NULL;
    size_t body = count + 1 + caf_record_tag;
    if (!cipher || capacity < caf_record_head + body || count > 1 << 14) return 0;
    const EVP_MD *digest = SSL_CIPHER_get_handshake_digest(suite);
    uint8_t key[EVP_MAX_KEY_LENGTH], nonce[caf_record_nonce];
    if (!caf_expand(digest, secret, secret_count, "key", key, (size_t)EVP_CIPHER_get_key_length(cipher)) ||
        !caf_expand(digest, secret, secret_count, "iv", nonce, sizeof nonce))
        return 0;
    for (int i = 0; i < 8; i++) nonce[sizeof nonce - 1 - (size_t)i] ^= (uint8_t)(sequence >> (8 * i));

    const uint8_t head[caf_record_head] = {23, 3, 3, (uint8_t)(body >> 8), (uint8_t)body};
    uint8_t *sealed = record + caf_record_head, content[(1 << 14) + 1];
    memcpy(record, head, sizeof head);
    if (count > 0) memcpy(content, bytes, count);
    content[count] = type;
    int result = caf_seal(cipher, key, nonce, head, sizeof head, content, count + 1, sealed);
    return result ? caf_record_head + body : 0;
}
