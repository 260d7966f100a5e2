// What judging certificates needs beside OpenSSL's own functions.
//
// Whatever can be the first use of OpenSSL in a program initialises it our way:
// OpenSSL's own way reads the configuration file that the environment names.
#pragma once

#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Memory

void caf_free(void *memory);

// MARK: Fields of a certificate

// One typed entry of a list of names. `bytes` belongs to the list and has no terminator.
typedef struct caf_general_name {
    int type; // GEN_DNS, GEN_IPADD, GEN_EMAIL…; -1 for one without bytes of its own
    const uint8_t *bytes;
    size_t count;
} caf_general_name;

// The subject's alternative names; NULL if there are none, twice, or they cannot be read.
GENERAL_NAMES *caf_alternative_names(const X509 *certificate);
int caf_general_name_count(const GENERAL_NAMES *names);
caf_general_name caf_general_name_at(const GENERAL_NAMES *names, int index);
void caf_general_names_free(GENERAL_NAMES *names);

// Each returns how many bytes it wrote, -1 if there is nothing.
int caf_name_text(const X509_NAME *name, uint8_t *buffer, int capacity);
int caf_name_entry(const X509_NAME *name, int nid, uint8_t **text); // UTF-8, the most specific one; free it
int caf_ip_text(const uint8_t *address, size_t count, char *buffer, size_t capacity);
int caf_ip_parse(const char *text, uint8_t address[16]); // 4 or 16

int caf_time_seconds(const ASN1_TIME *time, int64_t *seconds); // 0 for a malformed one
int caf_x509_equal(const X509 *a, const X509 *b);              // by every byte
int caf_x509_sha1(const X509 *certificate, uint8_t digest[20]);
int caf_x509_size(const X509 *certificate);                    // in bytes of DER; INT_MAX if that cannot be told
int caf_sha256(const void *bytes, size_t count, uint8_t digest[32]);
int caf_public_key_sha256(const X509 *certificate, uint8_t digest[32]);

// Digests made piece by piece. NULL for a kind that this OpenSSL refuses, as MD5 in a FIPS build.
enum { CAF_DIGEST_MD5, CAF_DIGEST_SHA1, CAF_DIGEST_SHA256, CAF_DIGEST_SHA512_256, CAF_DIGEST_SHA512 };
EVP_MD_CTX *caf_digest(int kind);
int caf_digest_add(EVP_MD_CTX *digest, const void *bytes, size_t count);
// Writes at most 64 bytes and returns how many, 0 if it failed. The digest is of no further use.
size_t caf_digest_end(EVP_MD_CTX *digest, uint8_t bytes[64]);
void caf_digest_free(EVP_MD_CTX *digest);

// Overwrites bytes in a way that no compiler leaves out.
void caf_wipe(void *bytes, size_t count);
int caf_names_issuer_location(const X509 *certificate); // it says where its issuer's certificate can be had

// MARK: Reading

// Exactly one certificate, encoded as DER demands; NULL otherwise. `trailing` says that bytes followed it.
X509 *caf_x509_parse(const uint8_t *bytes, size_t count, int *trailing);

// For files of the system, which OpenSSL itself reads no more strictly; the second
// kind also says for which uses it is trusted or not.
X509 *caf_x509_parse_leniently(const uint8_t *bytes, size_t count);
X509 *caf_x509_parse_with_uses(const uint8_t *bytes, size_t count);

// A number that is the same for all names that OpenSSL takes for the same, and seldom for others. 0 if it is not
// encoded as DER demands.
int caf_name_key(const X509_NAME *name, uint64_t *key);

// That of a certificate's subject, of which nothing else is read.
int caf_subject_key(const uint8_t *bytes, size_t count, uint64_t *key);

// One PEM block at the start of the bytes. 1 and what must be freed, or 0.
int caf_pem_block(const uint8_t *bytes, size_t count, char **name, int *encrypted, uint8_t **der, long *der_count);

// The DER of a CERTIFICATE in a block as everyone writes it: lines of 64 digits and nothing else. 0 for any other
// block, of which caf_pem_block may know more. `der` has room for as many bytes as there are digits.
size_t caf_pem_plain(const uint8_t *bytes, size_t count, uint8_t *der);

// Reads a regular file of at most `limit` bytes; 0 or errno (EFBIG above the limit, EISDIR, ENOTSUP for no file).
int caf_read_file(const char *path, size_t limit, uint8_t **bytes, size_t *count);

// The names in a folder, each ended by NUL, one after the other; 0 or errno.
int caf_list_folder(const char *path, uint8_t **names, size_t *count);
void caf_errno_text(int code, char *buffer, size_t capacity);

// NULL for an empty variable, and for each in a program that runs with more rights than its user has.
const char *caf_environment(const char *name);
int caf_is_privileged(void);

// MARK: Judging

typedef struct caf_verification_rules {
    int64_t seconds; // the moment to judge at
    int purpose;     // X509_PURPOSE_…, 0 for any
    int trust;       // X509_TRUST_…, 0 for any
    int depth;
    int level;
    bool partial_chain; // any certificate of the store ends a chain
    // The anchors that the program named itself: a root among them may have the flaws below, and certificates below
    // them need no authority key identifier. Not copied: they must outlive the context.
    const STACK_OF(X509) *named_anchors;
} caf_verification_rules;

// What RFC 5280 asks of the form of an authority's certificate, and OpenSSL only under X509_STRICT.
enum {
    CAF_FLAW_NO_KEY_USAGE = 1,
    CAF_FLAW_CONSTRAINTS_NOT_CRITICAL = 2,
    CAF_FLAW_NO_KEY_IDENTIFIER = 4,
};

// The flaw that this X509_V_ERR_… is about; 0 if it is about none of them.
int caf_flaw_of(int code);

// The flaws of an authority that signed itself; none for any other certificate.
int caf_root_flaws(X509 *certificate);

// The flaws that a chain may have all the same: those of its root, if that is one of the named anchors.
int caf_tolerated_flaws(const STACK_OF(X509) *chain, const STACK_OF(X509) *named_anchors);

X509_STORE *caf_store(void); // an empty one

// A context in which each rule is set and was read back; NULL if that did not work.
X509_STORE_CTX *caf_verification(X509_STORE *store, X509 *leaf, STACK_OF(X509) *served, const caf_verification_rules *rules);

// Whether `issuer` really signed `certificate`: names, key, and strength of both at this security level.
int caf_signed_by(X509 *certificate, X509 *issuer, int level);

// Bits of its key, 0 if it cannot be read.
int caf_key_bits(const X509 *certificate);

bool caf_has_dsa_key(const X509 *certificate);

// The same certificates in an order of their own, to be freed with caf_x509_free_all.
STACK_OF(X509) *caf_sorted(const STACK_OF(X509) *served);

// Removes the uppermost certificate of a chain that led nowhere and was served
// beside another one of the same subject. 0 if there is none.
int caf_drop_dead_end(STACK_OF(X509) *served, const STACK_OF(X509) *built);

// Whether the name constraints of `issuer` allow `certificate`.
bool caf_names_allowed(X509 *certificate, X509 *issuer, bool is_leaf);

// Whether the name constraints of `issuer` allow a host name: X509_V_OK or an X509_V_ERR_…. OpenSSL compares them with
// the names in certificates, of which `*.example.com` is not below `bar.example.com`, though it stands for that host.
int caf_host_allowed(const X509 *issuer, const uint8_t *host, size_t count);
