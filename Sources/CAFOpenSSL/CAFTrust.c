#define _GNU_SOURCE
#include "CAFLinux.h"
#include "CAFOpenSSL.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

void caf_free(void *memory) { OPENSSL_free(memory); }

// MARK: Fields of a certificate

GENERAL_NAMES *caf_alternative_names(const X509 *certificate) {
    return X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

int caf_general_name_count(const GENERAL_NAMES *names) { return names ? sk_GENERAL_NAME_num(names) : 0; }

caf_general_name caf_general_name_at(const GENERAL_NAMES *names, int index) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    const ASN1_STRING *string = NULL;
    if (name && (name->type == GEN_DNS || name->type == GEN_EMAIL || name->type == GEN_URI)) string = name->d.ia5;
    if (name && name->type == GEN_IPADD) string = name->d.iPAddress;
    if (!string || ASN1_STRING_length(string) < 0) return (caf_general_name){-1, NULL, 0};
    return (caf_general_name){name->type, ASN1_STRING_get0_data(string), (size_t)ASN1_STRING_length(string)};
}

void caf_general_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

int caf_name_text(const X509_NAME *name, uint8_t *buffer, int capacity) {
    const unsigned long style = XN_FLAG_RFC2253 & ~(unsigned long)ASN1_STRFLGS_ESC_MSB;
    // A name without entries prints nothing, which a memory BIO reports as an end.
    if (X509_NAME_entry_count(name) == 0) return 0;
    BIO *bio = BIO_new(BIO_s_mem());
    int count = -1;
    if (bio && X509_NAME_print_ex(bio, name, 0, style) >= 0) count = BIO_read(bio, buffer, capacity);
    BIO_free(bio);
    if (count < 0) ERR_clear_error();
    return count;
}

int caf_name_entry(const X509_NAME *name, int nid, uint8_t **text) {
    int index = -1, next = -1;
    while ((next = X509_NAME_get_index_by_NID(name, nid, index)) >= 0) index = next;
    if (index < 0) return -1;
    return ASN1_STRING_to_UTF8(text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)));
}

int caf_ip_text(const uint8_t *address, size_t count, char *buffer, size_t capacity) {
    if (count != 4 && count != 16) return -1;
    if (!inet_ntop(count == 4 ? AF_INET : AF_INET6, address, buffer, (socklen_t)capacity)) return -1;
    return (int)strlen(buffer);
}

int caf_ip_parse(const char *text, uint8_t address[16]) {
    if (inet_pton(AF_INET, text, address) == 1) return 4;
    return inet_pton(AF_INET6, text, address) == 1 ? 16 : -1;
}

int caf_time_seconds(const ASN1_TIME *time, int64_t *seconds) {
    struct tm parts = {0};
    if (!time || !ASN1_TIME_to_tm(time, &parts)) {
        ERR_clear_error();
        return 0;
    }
    *seconds = timegm(&parts);
    return 1;
}

int caf_x509_equal(const X509 *a, const X509 *b) {
    uint8_t *left = NULL, *right = NULL;
    if (a == b) return 1;
    if (X509_cmp(a, b) != 0) return 0;
    // X509_cmp does not look at the signature itself, only at a digest of it.
    int left_count = i2d_X509(a, &left), right_count = i2d_X509(b, &right);
    int equal = left_count > 0 && left_count == right_count && memcmp(left, right, (size_t)left_count) == 0;
    OPENSSL_free(left);
    OPENSSL_free(right);
    return equal;
}

int caf_x509_sha1(const X509 *certificate, uint8_t digest[20]) {
    unsigned int count = 20;
    return X509_digest(certificate, EVP_sha1(), digest, &count) == 1 && count == 20;
}

int caf_x509_size(const X509 *certificate) {
    int size = i2d_X509(certificate, NULL);
    return size > 0 ? size : INT_MAX;
}

// By the functions that newer ones should take the place of: they need no memory, and so cannot fail. What all digests
// are that could not be made would be equal for different things.
int caf_sha256(const void *bytes, size_t count, uint8_t digest[32]) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    SHA256_CTX context;
    return SHA256_Init(&context) == 1 && SHA256_Update(&context, bytes, count) == 1 &&
           SHA256_Final(digest, &context) == 1;
#pragma clang diagnostic pop
}

static const EVP_MD *caf_digest_kind(int kind) {
    switch (kind) {
    case CAF_DIGEST_MD5: return EVP_md5();
    case CAF_DIGEST_SHA1: return EVP_sha1();
    case CAF_DIGEST_SHA256: return EVP_sha256();
    case CAF_DIGEST_SHA512_256: return EVP_sha512_256();
    case CAF_DIGEST_SHA512: return EVP_sha512();
    default: return NULL;
    }
}

EVP_MD_CTX *caf_digest(int kind) {
    const EVP_MD *type = caf_openssl_init() ? caf_digest_kind(kind) : NULL;
    EVP_MD_CTX *digest = type ? EVP_MD_CTX_new() : NULL;
    if (digest && EVP_DigestInit_ex(digest, type, NULL) == 1) return digest;
    EVP_MD_CTX_free(digest);
    ERR_clear_error();
    return NULL;
}

int caf_digest_add(EVP_MD_CTX *digest, const void *bytes, size_t count) {
    return count == 0 || EVP_DigestUpdate(digest, bytes, count) == 1;
}

size_t caf_digest_end(EVP_MD_CTX *digest, uint8_t bytes[64]) {
    unsigned int count = 0;
    if (EVP_DigestFinal_ex(digest, bytes, &count) == 1) return count;
    ERR_clear_error();
    return 0;
}

void caf_digest_free(EVP_MD_CTX *digest) { EVP_MD_CTX_free(digest); }

void caf_wipe(void *bytes, size_t count) { OPENSSL_cleanse(bytes, count); }

int caf_public_key_sha256(const X509 *certificate, uint8_t digest[32]) {
    uint8_t small[1024], *bytes = small, *end = small, *large = NULL;
    X509_PUBKEY *key = X509_get_X509_PUBKEY(certificate);
    int count = key ? i2d_X509_PUBKEY(key, NULL) : -1;
    if (count > (int)sizeof small) {
        count = i2d_X509_PUBKEY(key, &large);
        bytes = large;
    } else if (count > 0) {
        count = i2d_X509_PUBKEY(key, &end);
    }
    int done = count > 0 && caf_sha256(bytes, (size_t)count, digest);
    OPENSSL_free(large);
    if (!done) ERR_clear_error();
    return done;
}

int caf_names_issuer_location(const X509 *certificate) {
    AUTHORITY_INFO_ACCESS *places = X509_get_ext_d2i(certificate, NID_info_access, NULL, NULL);
    int found = 0;
    for (int i = 0; places && i < sk_ACCESS_DESCRIPTION_num(places); i++)
        if (OBJ_obj2nid(sk_ACCESS_DESCRIPTION_value(places, i)->method) == NID_ad_ca_issuers) found = 1;
    AUTHORITY_INFO_ACCESS_free(places);
    if (!places) ERR_clear_error();
    return found;
}

// MARK: Reading

// What OpenSSL finds out about a certificate it keeps with it, and also that it had no memory to find it out: a handshake
// with such an anchor fails, and so does each one after it.
static int caf_is_understood(X509 *certificate) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (!key || EVP_PKEY_get_security_bits(key) <= 0 || X509_check_purpose(certificate, -1, 0) != 1) return 0;
    // Nearly everybody who issues his own certificate has signed it as well.
    return (X509_get_extension_flags(certificate) & (EXFLAG_SI | EXFLAG_SS)) != EXFLAG_SI;
}

typedef X509 *(*caf_x509_reading)(X509 **, const uint8_t **, long);

// A certificate that is not understood is read once more, before the caller keeps it. If the second reading fails too,
// the certificate itself is at fault.
static X509 *caf_x509_read(caf_x509_reading decode, const uint8_t *bytes, size_t count, const uint8_t **end) {
    X509 *made = NULL;
    if (!caf_openssl_init() || count == 0 || count > LONG_MAX) return NULL;
    for (int tries = 0; tries < 2; tries++) {
        X509_free(made);
        *end = bytes;
        made = decode(NULL, end, (long)count);
        if (!made || caf_is_understood(made)) break;
    }
    return made;
}

X509 *caf_x509_parse(const uint8_t *bytes, size_t count, int *trailing) {
    const uint8_t *end = bytes;
    uint8_t *again = NULL;
    *trailing = 0;
    ERR_clear_error();
    X509 *made = caf_x509_read(d2i_X509, bytes, count, &end);
    if (made && end != bytes + count) {
        *trailing = 1;
        X509_free(made);
        made = NULL;
    }
    if (made) {
        // OpenSSL also reads BER. One certificate must have one encoding, or it would differ from itself.
        int size = i2d_X509(made, &again);
        if (size < 0 || (size_t)size != count || memcmp(again, bytes, count) != 0) {
            X509_free(made);
            made = NULL;
        }
        OPENSSL_free(again);
    }
    ERR_clear_error();
    return made;
}

X509 *caf_x509_parse_leniently(const uint8_t *bytes, size_t count) {
    const uint8_t *end = bytes;
    X509 *made = caf_x509_read(d2i_X509, bytes, count, &end);
    ERR_clear_error();
    return made;
}

X509 *caf_x509_parse_with_uses(const uint8_t *bytes, size_t count) {
    const uint8_t *end = bytes;
    X509 *made = caf_x509_read(d2i_X509_AUX, bytes, count, &end);
    ERR_clear_error();
    return made;
}

typedef struct caf_span {
    const uint8_t *at, *end;
} caf_span;

// Takes the next element, of which the tag is told; 0 if its end is not known.
static int caf_next(caf_span *from, int *form, int *tag, caf_span *content) {
    enum { indefinite = 0x01, unreadable = 0x80 };
    long size = 0;
    int class = -1;
    *form = ASN1_get_object(&from->at, &size, tag, &class, from->end - from->at);
    if ((*form & (indefinite | unreadable)) || class != V_ASN1_UNIVERSAL) return 0;
    *content = (caf_span){from->at, from->at + size};
    from->at += size;
    return 1;
}

static int caf_take(caf_span *from, int wanted, caf_span *content) {
    int form, tag;
    return caf_next(from, &form, &tag, content) && tag == wanted;
}

static void caf_mix(uint64_t *hash, uint8_t byte) { *hash = (*hash ^ byte) * 0x100000001B3; } // FNV-1a

// OpenSSL compares texts in UTF-8, without regard to case and to how many spaces there are: what is left of every
// spelling are the letters and digits of ASCII.
static void caf_mix_text(uint64_t *hash, caf_span text, int tag) {
    const ptrdiff_t width = tag == V_ASN1_BMPSTRING ? 2 : tag == V_ASN1_UNIVERSALSTRING ? 4 : 1;
    for (; text.end - text.at >= width; text.at += width) {
        uint32_t unit = 0;
        for (ptrdiff_t i = 0; i < width; i++) unit = unit << 8 | text.at[i];
        if (unit >= 'A' && unit <= 'Z') unit |= 0x20;
        if ((unit >= 'a' && unit <= 'z') || (unit >= '0' && unit <= '9')) caf_mix(hash, (uint8_t)unit);
    }
}

// The attributes in any order: a set has none.
static int caf_key(caf_span name, uint64_t *key) {
    caf_span parts, part, attribute, type, value;
    int form, tag;
    *key = 0;
    if (!caf_take(&name, V_ASN1_SEQUENCE, &parts)) return 0;
    while (parts.at < parts.end) {
        if (!caf_take(&parts, V_ASN1_SET, &part)) return 0;
        while (part.at < part.end) {
            uint64_t hash = 0xCBF29CE484222325;
            if (!caf_take(&part, V_ASN1_SEQUENCE, &attribute) || !caf_take(&attribute, V_ASN1_OBJECT, &type) ||
                !caf_next(&attribute, &form, &tag, &value) || (form & V_ASN1_CONSTRUCTED))
                return 0;
            for (; type.at < type.end; type.at++) caf_mix(&hash, *type.at);
            caf_mix_text(&hash, value, tag);
            *key += hash;
        }
    }
    return 1;
}

int caf_name_key(const X509_NAME *name, uint64_t *key) {
    const uint8_t *bytes = NULL;
    size_t count = 0;
    int done = X509_NAME_get0_der(name, &bytes, &count) && caf_key((caf_span){bytes, bytes + count}, key);
    ERR_clear_error();
    return done;
}

// RFC 5280 §4.1: version if not 1, serial number, algorithm, issuer, validity; then the subject.
int caf_subject_key(const uint8_t *bytes, size_t count, uint64_t *key) {
    static const uint8_t version[] = {0xA0, 0x03, 0x02, 0x01};
    static const int before[] = {V_ASN1_INTEGER, V_ASN1_SEQUENCE, V_ASN1_SEQUENCE, V_ASN1_SEQUENCE};
    caf_span all = {bytes, bytes + count}, certificate, body, passed;
    if (!caf_openssl_init() || count > LONG_MAX) return 0;
    int done = caf_take(&all, V_ASN1_SEQUENCE, &certificate) && caf_take(&certificate, V_ASN1_SEQUENCE, &body);
    if (done && body.end - body.at > 5 && memcmp(body.at, version, sizeof version) == 0) body.at += 5;
    for (size_t i = 0; done && i < sizeof before / sizeof *before; i++) done = caf_take(&body, before[i], &passed);
    done = done && caf_key(body, key);
    ERR_clear_error();
    return done;
}

int caf_pem_block(const uint8_t *bytes, size_t count, char **name, int *encrypted, uint8_t **der, long *der_count) {
    char *header = NULL;
    ERR_clear_error();
    BIO *bio = count <= INT_MAX ? BIO_new_mem_buf(bytes, (int)count) : NULL;
    int read = bio ? PEM_read_bio(bio, name, &header, der, der_count) : 0;
    *encrypted = read && header && *header;
    if (read) OPENSSL_free(header);
    BIO_free(bio);
    ERR_clear_error();
    return read;
}

// One line of base64 digits; nothing may follow padding. The bytes it stands for, or 0.
static size_t caf_pem_line(const uint8_t *line, size_t count, int is_last, uint8_t *der) {
    size_t padding = 0, made = count / 4 * 3;
    if (count == 0 || count > 64 || count % 4 != 0 || (!is_last && count < 64)) return 0;
    while (is_last && padding < 2 && line[count - 1 - padding] == '=') padding++;
    if (memchr(line, '=', count - padding) || EVP_DecodeBlock(der, line, (int)count) != (int)made) return 0;
    return made - padding;
}

size_t caf_pem_plain(const uint8_t *bytes, size_t count, uint8_t *der) {
    static const char begin[] = "-----BEGIN CERTIFICATE-----\n", ending[] = "-----END CERTIFICATE-----";
    enum { begin_count = sizeof begin - 1, ending_count = sizeof ending - 1 };
    const uint8_t *at = bytes + begin_count, *end = bytes + count, *line_end;
    size_t size = 0;
    if (count < begin_count || memcmp(bytes, begin, begin_count) != 0) return 0;
    for (int is_last = 0; !is_last; at = line_end + 1) {
        line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) return 0;
        is_last = line_end + 1 < end && line_end[1] == '-';
        size_t made = caf_pem_line(at, (size_t)(line_end - at), is_last, der + size);
        if (made == 0) return 0;
        size += made;
    }
    if (end - at < ending_count || memcmp(at, ending, ending_count) != 0) return 0;
    return at + ending_count == end || at[ending_count] == '\n' ? size : 0;
}

static int caf_read_all(int file, size_t limit, uint8_t **bytes, size_t *count) {
    size_t capacity = 64 * 1024;
    uint8_t *buffer = OPENSSL_malloc(capacity);
    *count = 0;
    while (buffer) {
        long got = caf_read_at(file, buffer + *count, capacity - *count, (int64_t)*count);
        if (got < 0 || *count + (size_t)got > limit) {
            OPENSSL_free(buffer);
            return got < 0 ? (int)-got : EFBIG;
        }
        if (got == 0) {
            *bytes = buffer;
            return 0;
        }
        *count += (size_t)got;
        if (*count == capacity) {
            uint8_t *larger = OPENSSL_realloc(buffer, capacity *= 2);
            if (!larger) OPENSSL_free(buffer);
            buffer = larger;
        }
    }
    return ENOMEM;
}

int caf_read_file(const char *path, size_t limit, uint8_t **bytes, size_t *count) {
    caf_file_status status;
    int file = caf_open_for_reading(path);
    if (file < 0) return -file;
    int code = -caf_file_status_of(file, &status);
    if (!code && status.is_folder) code = EISDIR;
    else if (!code && !status.is_regular) code = ENOTSUP;
    if (!code) code = caf_read_all(file, limit, bytes, count);
    caf_close(file);
    return code;
}

typedef struct caf_name_list {
    uint8_t *bytes;
    size_t count;
    int lacks_memory;
} caf_name_list;

static void caf_add_name(const char *name, void *context) {
    caf_name_list *list = context;
    size_t length = strlen(name) + 1;
    uint8_t *larger = list->lacks_memory ? NULL : OPENSSL_realloc(list->bytes, list->count + length);
    list->lacks_memory = larger == NULL;
    if (!larger) return;
    memcpy(larger + list->count, name, length);
    list->bytes = larger;
    list->count += length;
}

int caf_list_folder(const char *path, uint8_t **names, size_t *count) {
    caf_name_list list = {0};
    int folder = caf_open_folder(path);
    if (folder < 0) return -folder;
    int code = -caf_for_each_name(folder, caf_add_name, &list);
    if (!code && list.lacks_memory) code = ENOMEM;
    caf_close(folder);
    if (code) OPENSSL_free(list.bytes);
    *names = code ? NULL : list.bytes;
    *count = code ? 0 : list.count;
    return code;
}

void caf_errno_text(int code, char *buffer, size_t capacity) {
    // The GNU form may answer with a text of its own instead of filling the buffer.
    const char *text = strerror_r(code, buffer, capacity);
    if (text != buffer) {
        strncpy(buffer, text, capacity - 1);
        buffer[capacity - 1] = 0;
    }
}

const char *caf_environment(const char *name) {
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

int caf_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

// MARK: Judging

X509_STORE *caf_store(void) { return caf_openssl_init() ? X509_STORE_new() : NULL; }

static int caf_set_rules(X509_VERIFY_PARAM *param, const caf_verification_rules *rules) {
    const unsigned long flags = X509_V_FLAG_X509_STRICT | X509_V_FLAG_TRUSTED_FIRST |
                                (rules->partial_chain ? (unsigned long)X509_V_FLAG_PARTIAL_CHAIN : 0);
    const unsigned long unwanted = X509_V_FLAG_NO_CHECK_TIME | X509_V_FLAG_IGNORE_CRITICAL |
                                   X509_V_FLAG_ALLOW_PROXY_CERTS |
                                   (rules->partial_chain ? 0 : (unsigned long)X509_V_FLAG_PARTIAL_CHAIN);
    if (!X509_VERIFY_PARAM_clear_flags(param, unwanted) || !X509_VERIFY_PARAM_set_flags(param, flags)) return 0;
    if (rules->purpose && !X509_VERIFY_PARAM_set_purpose(param, rules->purpose)) return 0;
    if (rules->trust && !X509_VERIFY_PARAM_set_trust(param, rules->trust)) return 0;
    X509_VERIFY_PARAM_set_depth(param, rules->depth);
    X509_VERIFY_PARAM_set_auth_level(param, rules->level);
    X509_VERIFY_PARAM_set_time(param, (time_t)rules->seconds);
    unsigned long set = X509_VERIFY_PARAM_get_flags(param);
    return (set & flags) == flags && (set & unwanted) == 0 && (set & X509_V_FLAG_USE_CHECK_TIME) &&
           X509_VERIFY_PARAM_get_depth(param) == rules->depth &&
           X509_VERIFY_PARAM_get_auth_level(param) == rules->level &&
           X509_VERIFY_PARAM_get_time(param) == (time_t)rules->seconds;
}

static int caf_is_named_anchor(const STACK_OF(X509) *anchors, const X509 *certificate) {
    for (int i = 0; certificate && i < caf_x509_count(anchors); i++)
        if (caf_x509_equal(caf_x509_at(anchors, i), certificate)) return 1;
    return 0;
}

// Nothing in here lets a certificate issue that says that it may not, or leaves out a limit: without a key usage a key is
// for everything.
int caf_flaw_of(int code) {
    switch (code) {
    case X509_V_ERR_CA_CERT_MISSING_KEY_USAGE:
    case X509_V_ERR_PATHLEN_WITHOUT_KU_KEY_CERT_SIGN: return CAF_FLAW_NO_KEY_USAGE;
    case X509_V_ERR_CA_BCONS_NOT_CRITICAL: return CAF_FLAW_CONSTRAINTS_NOT_CRITICAL;
    case X509_V_ERR_MISSING_SUBJECT_KEY_IDENTIFIER: return CAF_FLAW_NO_KEY_IDENTIFIER;
    default: return 0;
    }
}

int caf_root_flaws(X509 *certificate) {
    const uint32_t flags = X509_get_extension_flags(certificate);
    int flaws = 0;
    if (!(flags & EXFLAG_SS) || X509_check_ca(certificate) != 1) return 0;
    if (!(flags & EXFLAG_KUSAGE)) flaws |= CAF_FLAW_NO_KEY_USAGE;
    if (!(flags & EXFLAG_BCONS_CRITICAL)) flaws |= CAF_FLAW_CONSTRAINTS_NOT_CRITICAL;
    if (!X509_get0_subject_key_id(certificate)) flaws |= CAF_FLAW_NO_KEY_IDENTIFIER;
    return flaws;
}

int caf_tolerated_flaws(const STACK_OF(X509) *chain, const STACK_OF(X509) *named_anchors) {
    const int count = caf_x509_count(chain);
    X509 *anchor = caf_x509_at(chain, count - 1);
    // OpenSSL asks nothing of the form of a certificate that is a whole chain.
    return count > 1 && caf_is_named_anchor(named_anchors, anchor) ? caf_root_flaws(anchor) : 0;
}

// The flaws that only X509_STRICT finds and private authorities have: a program that names an anchor has chosen it. An
// authority of the system, which others have chosen for all programs, has to obey. The chain is built by names, so this is
// asked when its last certificate is known.
static int caf_judge_flaw(int is_good, X509_STORE_CTX *context) {
    if (is_good) return is_good;
    const STACK_OF(X509) *chain = X509_STORE_CTX_get0_chain(context), *named = X509_STORE_CTX_get_app_data(context);
    const int code = X509_STORE_CTX_get_error(context), last = caf_x509_count(chain) - 1;
    X509 *current = X509_STORE_CTX_get_current_cert(context);
    int is_tolerated;
    if (code == X509_V_ERR_MISSING_AUTHORITY_KEY_IDENTIFIER)
        is_tolerated = (current && (X509_get_extension_flags(current) & EXFLAG_SS)) ||
                       caf_is_named_anchor(named, caf_x509_at(chain, last));
    else
        is_tolerated = X509_STORE_CTX_get_error_depth(context) == last &&
                       (caf_flaw_of(code) & caf_tolerated_flaws(chain, named)) != 0;
    if (is_tolerated) X509_STORE_CTX_set_error(context, X509_V_OK);
    return is_tolerated;
}

X509_STORE_CTX *caf_verification(X509_STORE *store, X509 *leaf, STACK_OF(X509) *served, const caf_verification_rules *rules) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    if (context && X509_STORE_CTX_init(context, store, leaf, served)) {
        X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(context);
        int is_set = param && caf_set_rules(param, rules) &&
                     X509_STORE_CTX_set_app_data(context, (void *)(uintptr_t)rules->named_anchors);
        X509_STORE_CTX_set_verify_cb(context, caf_judge_flaw);
        if (is_set) return context;
    }
    X509_STORE_CTX_free(context);
    return NULL;
}

// Bits of strength that a security level asks for.
static int caf_level_bits(int level) {
    static const int bits[] = {0, 80, 112, 128, 192, 256};
    return level <= 0 ? 0 : bits[level > 5 ? 5 : level];
}

int caf_signed_by(X509 *certificate, X509 *issuer, int level) {
    EVP_PKEY *key = X509_get0_pubkey(issuer);
    int strength = 0, wanted = caf_level_bits(level), signed_by = 0;
    ERR_clear_error();
    if (key && X509_check_issued(issuer, certificate) == X509_V_OK &&
        X509_get_signature_info(certificate, NULL, NULL, &strength, NULL) && strength >= wanted &&
        EVP_PKEY_get_security_bits(key) >= wanted)
        signed_by = X509_verify(certificate, key) == 1;
    ERR_clear_error();
    return signed_by;
}

// Any server can make a chain that is not trusted: comparing thousands of names with
// thousands of constraints for its sake would take seconds.
static int caf_is_affordable(const X509 *certificate, const NAME_CONSTRAINTS *constraints) {
    GENERAL_NAMES *names = caf_alternative_names(certificate);
    int64_t count = caf_general_name_count(names) + X509_NAME_entry_count(X509_get_subject_name(certificate));
    int64_t bounds = 0;
    if (constraints->permittedSubtrees) bounds += sk_GENERAL_SUBTREE_num(constraints->permittedSubtrees);
    if (constraints->excludedSubtrees) bounds += sk_GENERAL_SUBTREE_num(constraints->excludedSubtrees);
    GENERAL_NAMES_free(names);
    return count * bounds <= 65536;
}

bool caf_names_allowed(X509 *certificate, X509 *issuer, bool is_leaf) {
    int critical = -1;
    bool allowed;
    NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(issuer, NID_name_constraints, &critical, NULL);
    if (!constraints) {
        ERR_clear_error();
        return critical == -1; // There is none; anything else: unreadable or twice.
    }
    // As in chain verification, a self-issued certificate is exempt unless it is the last one.
    if (!is_leaf && (X509_get_extension_flags(certificate) & EXFLAG_SI)) allowed = true;
    else allowed = caf_is_affordable(certificate, constraints) &&
                   NAME_CONSTRAINTS_check(certificate, constraints) == X509_V_OK &&
                   (!is_leaf || NAME_CONSTRAINTS_check_CN(certificate, constraints) == X509_V_OK);
    NAME_CONSTRAINTS_free(constraints);
    ERR_clear_error();
    return allowed;
}

// RFC 5280 section 4.2.1.10: the name itself and all below it. A leading dot, which is not in there, leaves out the name.
static int caf_is_within(const uint8_t *host, size_t count, const ASN1_STRING *bound) {
    const uint8_t *bytes = ASN1_STRING_get0_data(bound);
    size_t length = (size_t)ASN1_STRING_length(bound);
    if (length == 0) return 1;
    if (length > count || OPENSSL_strncasecmp((const char *)host + (count - length), (const char *)bytes, length) != 0)
        return 0;
    return length == count || bytes[0] == '.' || host[count - length - 1] == '.';
}

static int caf_count_bounds(const STACK_OF(GENERAL_SUBTREE) *bounds, const uint8_t *host, size_t count, int *matching) {
    int names = 0;
    for (int i = 0; bounds && i < sk_GENERAL_SUBTREE_num(bounds); i++) {
        const GENERAL_NAME *base = sk_GENERAL_SUBTREE_value(bounds, i)->base;
        if (base->type != GEN_DNS) continue;
        names++;
        *matching += caf_is_within(host, count, base->d.dNSName);
    }
    return names;
}

int caf_host_allowed(const X509 *issuer, const uint8_t *host, size_t count) {
    int critical = -1, code = X509_V_OK, permitted = 0, excluded = 0;
    NAME_CONSTRAINTS *constraints = X509_get_ext_d2i(issuer, NID_name_constraints, &critical, NULL);
    if (!constraints) {
        ERR_clear_error();
        return critical == -1 ? X509_V_OK : X509_V_ERR_UNSUPPORTED_CONSTRAINT_SYNTAX;
    }
    if (caf_count_bounds(constraints->permittedSubtrees, host, count, &permitted) > 0 && permitted == 0)
        code = X509_V_ERR_PERMITTED_VIOLATION;
    caf_count_bounds(constraints->excludedSubtrees, host, count, &excluded);
    if (excluded > 0) code = X509_V_ERR_EXCLUDED_VIOLATION;
    NAME_CONSTRAINTS_free(constraints);
    return code;
}

int caf_key_bits(const X509 *certificate) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    int bits = key ? EVP_PKEY_get_bits(key) : 0;
    if (!key) ERR_clear_error();
    return bits > 0 ? bits : 0;
}

bool caf_has_dsa_key(const X509 *certificate) {
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    if (!key) ERR_clear_error();
    return key && EVP_PKEY_get_base_id(key) == EVP_PKEY_DSA;
}

// MARK: Several certificates of one authority

static int caf_same_subject(const X509 *a, const X509 *b) {
    return X509_NAME_cmp(X509_get_subject_name(a), X509_get_subject_name(b)) == 0;
}

// The one that is valid longest comes first, then by content: nothing of the order that was sent remains.
static int caf_order(const X509 *const *a, const X509 *const *b) {
    int64_t left = INT64_MIN, right = INT64_MIN;
    caf_time_seconds(X509_get0_notAfter(*a), &left);
    caf_time_seconds(X509_get0_notAfter(*b), &right);
    return left != right ? (left > right ? -1 : 1) : X509_cmp(*a, *b);
}

STACK_OF(X509) *caf_sorted(const STACK_OF(X509) *served) {
    STACK_OF(X509) *sorted = X509_chain_up_ref((STACK_OF(X509) *)(uintptr_t)served);
    if (!sorted) return NULL;
    sk_X509_set_cmp_func(sorted, caf_order);
    sk_X509_sort(sorted);
    return sorted;
}

int caf_drop_dead_end(STACK_OF(X509) *served, const STACK_OF(X509) *built) {
    for (int i = caf_x509_count(built) - 1; i > 0; i--) {
        const X509 *candidate = sk_X509_value(built, i);
        int is_served = 0, has_other = 0, dropped = 0;
        for (int j = 0; j < sk_X509_num(served); j++) {
            if (caf_x509_equal(sk_X509_value(served, j), candidate)) is_served = 1;
            else if (caf_same_subject(sk_X509_value(served, j), candidate)) has_other = 1;
        }
        for (int j = sk_X509_num(served) - 1; is_served && has_other && j >= 0; j--)
            if (caf_x509_equal(sk_X509_value(served, j), candidate)) {
                X509_free(sk_X509_delete(served, j));
                dropped = 1;
            }
        if (dropped) return 1;
    }
    return 0;
}
