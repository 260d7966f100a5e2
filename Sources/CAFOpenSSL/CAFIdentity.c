#include "CAFOpenSSL.h"

#include <limits.h>
#include <string.h>

// Rounds of key derivation, over everything in a file. Current advice is below one
// million; ten take some seconds.
#define CAF_MOST_ROUNDS 10000000

// A file can nest lists of keys and certificates.
#define CAF_MOST_LEVELS 4

// MARK: What went wrong

static int caf_lacks_algorithm(unsigned long error) {
    int library = ERR_GET_LIB(error), reason = ERR_GET_REASON(error);
    if (reason == ERR_R_UNSUPPORTED) return 1;
    if (library == ERR_LIB_EVP)
        return reason == EVP_R_UNSUPPORTED_ALGORITHM || reason == EVP_R_UNKNOWN_PBE_ALGORITHM ||
               reason == EVP_R_UNSUPPORTED_CIPHER || reason == EVP_R_UNSUPPORTED_KEY_DERIVATION_FUNCTION ||
               reason == EVP_R_UNSUPPORTED_PRF || reason == EVP_R_UNKNOWN_CIPHER || reason == EVP_R_UNKNOWN_DIGEST;
    if (library == ERR_LIB_PKCS12) return reason == PKCS12_R_UNKNOWN_DIGEST_ALGORITHM;
    if (library == ERR_LIB_PEM) return reason == PEM_R_UNSUPPORTED_CIPHER || reason == PEM_R_UNSUPPORTED_ENCRYPTION;
    return 0;
}

// Empties the error queue.
static caf_identity_status caf_failure(caf_identity_status otherwise) {
    caf_identity_status status = otherwise;
    for (unsigned long error; (error = ERR_get_error());)
        if (caf_lacks_algorithm(error)) status = CAF_IDENTITY_UNSUPPORTED;
    return status;
}

// MARK: How much work it is

static int64_t caf_number(const ASN1_INTEGER *number) {
    int64_t value = 0;
    return number && ASN1_INTEGER_get_int64(&value, number) && value > 0 ? value : INT64_MAX;
}

static int64_t caf_product(int64_t a, int64_t b) { return a > INT64_MAX / b ? INT64_MAX : a * b; }

static int64_t caf_kdf_rounds(const X509_ALGOR *algorithm) {
    int64_t rounds = INT64_MAX;
    int nid = OBJ_obj2nid(algorithm->algorithm);
    if (nid == NID_id_pbkdf2) {
        PBKDF2PARAM *found = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), algorithm->parameter);
        if (found) rounds = caf_number(found->iter);
        PBKDF2PARAM_free(found);
        return rounds;
    }
#ifndef OPENSSL_NO_SCRYPT
    if (nid == NID_id_scrypt) {
        SCRYPT_PARAMS *found = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(SCRYPT_PARAMS), algorithm->parameter);
        if (found)
            rounds = caf_product(caf_product(caf_number(found->costParameter), caf_number(found->blockSize)),
                                 caf_number(found->parallelizationParameter));
        SCRYPT_PARAMS_free(found);
        return rounds;
    }
#endif
    return 0; // not known to OpenSSL: it will say so
}

static int64_t caf_rounds(const X509_ALGOR *algorithm) {
    int64_t rounds = INT64_MAX;
    int nid = OBJ_obj2nid(algorithm->algorithm);
    if (nid == NID_pbes2) {
        PBE2PARAM *found = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), algorithm->parameter);
        if (found) rounds = caf_kdf_rounds(found->keyfunc);
        PBE2PARAM_free(found);
    } else if (EVP_PBE_find(EVP_PBE_TYPE_OUTER, nid, NULL, NULL, NULL)) {
        PBEPARAM *found = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), algorithm->parameter);
        if (found) rounds = caf_number(found->iter);
        PBEPARAM_free(found);
    } else {
        rounds = 0;
    }
    ERR_clear_error();
    return rounds;
}

static int caf_spend(int64_t *spent, int64_t rounds) {
    if (rounds > CAF_MOST_ROUNDS - *spent) return 0;
    *spent += rounds;
    return 1;
}

// MARK: The library's legacy provider

typedef caf_identity_status (*caf_reading)(void *);

// In a library context of its own, so that what it loads is of no consequence to
// anything else. The default context that is replaced is that of this thread.
static caf_identity_status caf_with_legacy(caf_reading reading, void *argument, const char *modules) {
    OSSL_PROVIDER *legacy = NULL, *standard = NULL;
    OSSL_LIB_CTX *own = OSSL_LIB_CTX_new();
    caf_identity_status status = CAF_IDENTITY_NO_LEGACY;
    if (own && (!modules || OSSL_PROVIDER_set_default_search_path(own, modules))) {
        legacy = OSSL_PROVIDER_load(own, "legacy");
        standard = OSSL_PROVIDER_load(own, "default");
    }
    if (legacy && standard) {
        OSSL_LIB_CTX *former = OSSL_LIB_CTX_set0_default(own);
        status = reading(argument);
        OSSL_LIB_CTX_set0_default(former);
    }
    if (standard) OSSL_PROVIDER_unload(standard);
    if (legacy) OSSL_PROVIDER_unload(legacy);
    OSSL_LIB_CTX_free(own);
    return status;
}

static caf_identity_status caf_with_algorithms(caf_reading reading, void *argument, const char *modules) {
    caf_identity_status status = reading(argument);
    if (status == CAF_IDENTITY_UNSUPPORTED) status = caf_with_legacy(reading, argument, modules);
    ERR_clear_error();
    return status;
}

// MARK: Keys in PEM

typedef struct caf_pem_key {
    const caf_passphrase *passphrase;
    char *name;
    char *header;
    uint8_t *der;
    long count;
    PKCS8_PRIV_KEY_INFO *decrypted;
} caf_pem_key;

// Installed wherever OpenSSL would ask on the terminal otherwise.
static int caf_give_passphrase(char *buffer, int capacity, int writing, void *argument) {
    const caf_passphrase *passphrase = argument;
    if (writing || !passphrase->is_given || passphrase->count > (size_t)capacity) return -1;
    memcpy(buffer, passphrase->text, passphrase->count);
    return (int)passphrase->count;
}

static caf_identity_status caf_decrypt_with_header(void *argument) {
    caf_pem_key *key = argument;
    EVP_CIPHER_INFO cipher;
    ERR_clear_error();
    if (!PEM_get_EVP_CIPHER_INFO(key->header, &cipher)) return caf_failure(CAF_IDENTITY_MALFORMED);
    if (!PEM_do_header(&cipher, key->der, &key->count, caf_give_passphrase, (void *)key->passphrase))
        return caf_failure(CAF_IDENTITY_WRONG_PASSPHRASE);
    return CAF_IDENTITY_READ;
}

static caf_identity_status caf_decrypt_pkcs8(void *argument) {
    caf_pem_key *key = argument;
    const uint8_t *end = key->der;
    const X509_ALGOR *algorithm;
    int64_t spent = 0;
    caf_identity_status status = CAF_IDENTITY_READ;
    ERR_clear_error();
    X509_SIG *sealed = d2i_X509_SIG(NULL, &end, key->count);
    if (!sealed || end != key->der + key->count) {
        X509_SIG_free(sealed);
        return CAF_IDENTITY_MALFORMED;
    }
    X509_SIG_get0(sealed, &algorithm, NULL);
    if (!caf_spend(&spent, caf_rounds(algorithm))) {
        status = CAF_IDENTITY_EXCESSIVE;
    } else {
        key->decrypted = PKCS8_decrypt(sealed, key->passphrase->text, (int)key->passphrase->count);
        if (!key->decrypted) status = caf_failure(CAF_IDENTITY_WRONG_PASSPHRASE);
    }
    X509_SIG_free(sealed);
    return status;
}

static EVP_PKEY *caf_key_of(const caf_pem_key *key) {
    const uint8_t *end = key->der;
    EVP_PKEY *made = NULL;
    PKCS8_PRIV_KEY_INFO *plain = NULL;
    if (key->decrypted) return EVP_PKCS82PKEY(key->decrypted);
    if (!strcmp(key->name, "RSA PRIVATE KEY")) made = d2i_PrivateKey(EVP_PKEY_RSA, NULL, &end, key->count);
    else if (!strcmp(key->name, "EC PRIVATE KEY")) made = d2i_PrivateKey(EVP_PKEY_EC, NULL, &end, key->count);
    else if ((plain = d2i_PKCS8_PRIV_KEY_INFO(NULL, &end, key->count))) made = EVP_PKCS82PKEY(plain);
    PKCS8_PRIV_KEY_INFO_free(plain);
    if (end == key->der + key->count) return made;
    EVP_PKEY_free(made);
    return NULL;
}

static caf_identity_status caf_open_pem_key(caf_pem_key *key, const char *modules, EVP_PKEY **made) {
    const caf_passphrase *passphrase = key->passphrase;
    int has_header = key->header && *key->header, is_sealed = !strcmp(key->name, PEM_STRING_PKCS8);
    caf_identity_status status = CAF_IDENTITY_READ;
    if (!is_sealed && strcmp(key->name, PEM_STRING_PKCS8INF) && strcmp(key->name, PEM_STRING_RSA) &&
        strcmp(key->name, PEM_STRING_ECPRIVATEKEY))
        return CAF_IDENTITY_UNUSABLE_KEY;
    if (has_header || is_sealed) {
        if (!passphrase->is_given) return CAF_IDENTITY_PASSPHRASE_REQUIRED;
        if (passphrase->count > INT_MAX) return CAF_IDENTITY_WRONG_PASSPHRASE;
        if (has_header) status = caf_with_algorithms(caf_decrypt_with_header, key, modules);
        if (is_sealed && !status) status = caf_with_algorithms(caf_decrypt_pkcs8, key, modules);
    }
    if (status) return status;
    *made = caf_key_of(key);
    if (*made) return CAF_IDENTITY_READ;
    // One wrong passphrase in 256 leaves something that looks decrypted.
    return has_header || is_sealed ? CAF_IDENTITY_WRONG_PASSPHRASE : CAF_IDENTITY_MALFORMED;
}

caf_identity_status caf_read_private_key(const uint8_t *pem, size_t count, const caf_passphrase *passphrase,
                                         const char *modules, EVP_PKEY **made) {
    caf_pem_key key = {.passphrase = passphrase};
    caf_identity_status status = CAF_IDENTITY_MALFORMED;
    *made = NULL;
    caf_openssl_init();
    ERR_clear_error();
    BIO *bio = count <= INT_MAX ? BIO_new_mem_buf(pem, (int)count) : NULL;
    if (bio && PEM_read_bio(bio, &key.name, &key.header, &key.der, &key.count)) {
        long allocated = key.count;
        status = caf_open_pem_key(&key, modules, made);
        PKCS8_PRIV_KEY_INFO_free(key.decrypted);
        OPENSSL_clear_free(key.der, (size_t)allocated);
        OPENSSL_free(key.name);
        OPENSSL_free(key.header);
    }
    BIO_free(bio);
    ERR_clear_error();
    return status;
}

// MARK: PKCS#12

typedef struct caf_pkcs12 {
    const uint8_t *bytes;
    size_t count;
    const caf_passphrase *passphrase;
    const char *text; // the passphrase in the spelling that the file uses; NULL is one
    int64_t spent;
    int keys;
    PKCS8_PRIV_KEY_INFO *key;
    OPENSSL_STACK *certificates; // as ASN1_OCTET_STRING: independent of a library context
} caf_pkcs12;

static void caf_free_octets(void *octets) { ASN1_OCTET_STRING_free(octets); }

static void caf_forget_parts(caf_pkcs12 *file) {
    PKCS8_PRIV_KEY_INFO_free(file->key);
    OPENSSL_sk_pop_free(file->certificates, caf_free_octets);
    file->key = NULL;
    file->certificates = NULL;
    file->keys = 0;
    file->spent = 0;
}

// Before 3.0.13 OpenSSL follows the pointer to content that is not there (CVE-2024-0727).
static int caf_has_content(const uint8_t *bytes, size_t count) {
    const uint8_t *end = bytes;
    long length;
    int tag, class, has = 0;
    if (count > LONG_MAX || (ASN1_get_object(&end, &length, &tag, &class, (long)count) & 0x80)) return 0;
    ASN1_INTEGER *version = d2i_ASN1_INTEGER(NULL, &end, (long)(bytes + count - end));
    PKCS7 *content = version ? d2i_PKCS7(NULL, &end, (long)(bytes + count - end)) : NULL;
    if (content) has = PKCS7_type_is_data(content) && content->d.data && ASN1_STRING_length(content->d.data) > 0;
    ASN1_INTEGER_free(version);
    PKCS7_free(content);
    return has;
}

static caf_identity_status caf_add_key(caf_pkcs12 *file, const PKCS12_SAFEBAG *bag) {
    const X509_SIG *sealed;
    const X509_ALGOR *algorithm;
    if (++file->keys > 1) return CAF_IDENTITY_SEVERAL_KEYS;
    if (PKCS12_SAFEBAG_get_nid(bag) == NID_keyBag) {
        const PKCS8_PRIV_KEY_INFO *plain = PKCS12_SAFEBAG_get0_p8inf(bag);
        file->key = plain ? ASN1_item_dup(ASN1_ITEM_rptr(PKCS8_PRIV_KEY_INFO), plain) : NULL;
        return file->key ? CAF_IDENTITY_READ : CAF_IDENTITY_MALFORMED;
    }
    sealed = PKCS12_SAFEBAG_get0_pkcs8(bag);
    if (!sealed) return CAF_IDENTITY_MALFORMED;
    X509_SIG_get0(sealed, &algorithm, NULL);
    if (!caf_spend(&file->spent, caf_rounds(algorithm))) return CAF_IDENTITY_EXCESSIVE;
    file->key = PKCS8_decrypt(sealed, file->text, file->text ? (int)file->passphrase->count : 0);
    return file->key ? CAF_IDENTITY_READ : caf_failure(CAF_IDENTITY_MALFORMED);
}

static caf_identity_status caf_add_certificate(caf_pkcs12 *file, const PKCS12_SAFEBAG *bag) {
    uint8_t *der = NULL;
    if (PKCS12_SAFEBAG_get_bag_nid(bag) != NID_x509Certificate) return CAF_IDENTITY_READ;
    X509 *certificate = PKCS12_SAFEBAG_get1_cert(bag);
    int count = certificate ? i2d_X509(certificate, &der) : -1;
    ASN1_OCTET_STRING *kept = count > 0 ? ASN1_OCTET_STRING_new() : NULL;
    X509_free(certificate);
    if (kept) ASN1_STRING_set0(kept, der, count);
    else OPENSSL_free(der);
    if (kept && OPENSSL_sk_push(file->certificates, kept) > 0) return CAF_IDENTITY_READ;
    ASN1_OCTET_STRING_free(kept);
    return CAF_IDENTITY_MALFORMED;
}

static caf_identity_status caf_add_bags(caf_pkcs12 *file, const STACK_OF(PKCS12_SAFEBAG) *bags, int levels) {
    caf_identity_status status = CAF_IDENTITY_READ;
    if (!bags || levels == 0) return CAF_IDENTITY_MALFORMED;
    for (int i = 0; !status && i < sk_PKCS12_SAFEBAG_num(bags); i++) {
        const PKCS12_SAFEBAG *bag = sk_PKCS12_SAFEBAG_value(bags, i);
        switch (PKCS12_SAFEBAG_get_nid(bag)) {
        case NID_keyBag:
        case NID_pkcs8ShroudedKeyBag: status = caf_add_key(file, bag); break;
        case NID_certBag: status = caf_add_certificate(file, bag); break;
        case NID_safeContentsBag: status = caf_add_bags(file, PKCS12_SAFEBAG_get0_safes(bag), levels - 1); break;
        default: break; // revocation lists and secrets are none of our business
        }
    }
    return status;
}

static caf_identity_status caf_add_content(caf_pkcs12 *file, PKCS7 *content) {
    STACK_OF(PKCS12_SAFEBAG) *bags = NULL;
    caf_identity_status status;
    ERR_clear_error();
    if (PKCS7_type_is_data(content)) {
        if (content->d.data) bags = PKCS12_unpack_p7data(content);
    } else if (PKCS7_type_is_encrypted(content)) {
        const PKCS7_ENC_CONTENT *sealed = content->d.encrypted ? content->d.encrypted->enc_data : NULL;
        if (!sealed || !sealed->algorithm || !sealed->enc_data) return CAF_IDENTITY_MALFORMED;
        if (!caf_spend(&file->spent, caf_rounds(sealed->algorithm))) return CAF_IDENTITY_EXCESSIVE;
        bags = PKCS12_unpack_p7encdata(content, file->text, file->text ? (int)file->passphrase->count : 0);
    } else {
        return CAF_IDENTITY_UNSUPPORTED; // encrypted for a certificate instead of with a passphrase
    }
    if (!bags) return caf_failure(CAF_IDENTITY_MALFORMED);
    status = caf_add_bags(file, bags, CAF_MOST_LEVELS);
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    return status;
}

static caf_identity_status caf_verify(caf_pkcs12 *file, PKCS12 *opened) {
    const ASN1_INTEGER *rounds = NULL;
    int tries = file->passphrase->count == 0 ? 2 : 1;
    if (!PKCS12_mac_present(opened)) return CAF_IDENTITY_UNPROTECTED;
    PKCS12_get0_mac(NULL, NULL, NULL, &rounds, opened);
    if (!caf_spend(&file->spent, rounds ? caf_number(rounds) : 1)) return CAF_IDENTITY_EXCESSIVE;
    ERR_clear_error();
    file->text = file->passphrase->text;
    if (PKCS12_verify_mac(opened, file->text, (int)file->passphrase->count)) return CAF_IDENTITY_READ;
    // Programs disagree on what no passphrase is: two bytes of zero, or nothing at all.
    file->text = NULL;
    if (tries == 2 && PKCS12_verify_mac(opened, NULL, 0)) return CAF_IDENTITY_READ;
    return caf_failure(tries == 2 ? CAF_IDENTITY_PASSPHRASE_REQUIRED : CAF_IDENTITY_WRONG_PASSPHRASE);
}

static caf_identity_status caf_open_pkcs12(void *argument) {
    caf_pkcs12 *file = argument;
    const uint8_t *end = file->bytes;
    STACK_OF(PKCS7) *contents = NULL;
    caf_forget_parts(file);
    ERR_clear_error();
    PKCS12 *opened = d2i_PKCS12(NULL, &end, (long)file->count);
    caf_identity_status status = CAF_IDENTITY_MALFORMED;
    if (opened && end == file->bytes + file->count) status = caf_verify(file, opened);
    if (!status) {
        contents = PKCS12_unpack_authsafes(opened);
        file->certificates = OPENSSL_sk_new_null();
        if (!contents || !file->certificates) status = caf_failure(CAF_IDENTITY_MALFORMED);
    }
    for (int i = 0; !status && i < sk_PKCS7_num(contents); i++) status = caf_add_content(file, sk_PKCS7_value(contents, i));
    sk_PKCS7_pop_free(contents, PKCS7_free);
    PKCS12_free(opened);
    return status;
}

static caf_identity_status caf_take_certificates(const caf_pkcs12 *file, STACK_OF(X509) **certificates) {
    *certificates = sk_X509_new_null();
    for (int i = 0; *certificates && i < OPENSSL_sk_num(file->certificates); i++) {
        const ASN1_OCTET_STRING *der = OPENSSL_sk_value(file->certificates, i);
        int trailing;
        X509 *made = caf_x509_parse(ASN1_STRING_get0_data(der), (size_t)ASN1_STRING_length(der), &trailing);
        if (made && sk_X509_push(*certificates, made) > 0) continue;
        X509_free(made);
        return CAF_IDENTITY_MALFORMED;
    }
    return *certificates ? CAF_IDENTITY_READ : CAF_IDENTITY_MALFORMED;
}

caf_identity_status caf_read_pkcs12(const uint8_t *bytes, size_t count, const caf_passphrase *passphrase,
                                    const char *modules, EVP_PKEY **key, STACK_OF(X509) **certificates) {
    caf_pkcs12 file = {.bytes = bytes, .count = count, .passphrase = passphrase};
    caf_identity_status status = CAF_IDENTITY_MALFORMED;
    *key = NULL;
    *certificates = NULL;
    caf_openssl_init();
    ERR_clear_error();
    if (passphrase->count > INT_MAX) return CAF_IDENTITY_WRONG_PASSPHRASE;
    if (caf_has_content(bytes, count)) status = caf_with_algorithms(caf_open_pkcs12, &file, modules);
    if (!status && !file.key) status = CAF_IDENTITY_NO_KEY;
    if (!status && !(*key = EVP_PKCS82PKEY(file.key))) status = CAF_IDENTITY_UNUSABLE_KEY;
    if (!status) status = caf_take_certificates(&file, certificates);
    caf_forget_parts(&file);
    if (status) {
        EVP_PKEY_free(*key);
        sk_X509_pop_free(*certificates, X509_free);
        *key = NULL;
        *certificates = NULL;
    }
    ERR_clear_error();
    return status;
}

// MARK: Key and certificate

int caf_key_belongs(X509 *certificate, EVP_PKEY *key) {
    ERR_clear_error();
    int belongs = X509_check_private_key(certificate, key) == 1;
    ERR_clear_error();
    return belongs;
}

int caf_key_works(X509 *certificate, EVP_PKEY *key) {
    static const uint8_t text[] = "a sample to sign";
    char digest[64] = "";
    uint8_t *signature = NULL;
    EVP_MD_CTX *signing = EVP_MD_CTX_new(), *verifying = EVP_MD_CTX_new();
    size_t count = 0;
    int works = 0;
    ERR_clear_error();
    // OpenSSL remembers what it found out about a key when it read it. If there was no memory for that, it takes the key
    // for too weak in every handshake to come.
    EVP_PKEY *shown = X509_get0_pubkey(certificate);
    int is_known = shown && EVP_PKEY_get_security_bits(shown) > 0 && EVP_PKEY_get_security_bits(key) > 0;
    // Ed25519 and Ed448 have their digests built in.
    if (EVP_PKEY_get_default_digest_name(key, digest, sizeof digest) <= 0) digest[0] = 0;
    const char *name = *digest && strcmp(digest, "UNDEF") ? digest : NULL;
    if (is_known && signing && verifying && EVP_PKEY_get_bits(key) <= 16384 &&
        EVP_DigestSignInit_ex(signing, NULL, name, NULL, NULL, key, NULL) == 1 &&
        EVP_DigestSign(signing, NULL, &count, text, sizeof text) == 1 && (signature = OPENSSL_malloc(count)) &&
        EVP_DigestSign(signing, signature, &count, text, sizeof text) == 1 &&
        EVP_DigestVerifyInit_ex(verifying, NULL, name, NULL, NULL, shown, NULL) == 1)
        works = EVP_DigestVerify(verifying, signature, count, text, sizeof text) == 1;
    OPENSSL_free(signature);
    EVP_MD_CTX_free(signing);
    EVP_MD_CTX_free(verifying);
    ERR_clear_error();
    return works;
}
