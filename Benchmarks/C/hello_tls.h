// The least that an https request needs of OpenSSL. It is loaded when the first URL asks for it, so that a program
// that only speaks http starts without it.
#pragma once
#include <dlfcn.h>
#include <openssl/ssl.h>
#include <stdlib.h>

static struct {
    const SSL_METHOD *(*method)(void);
    SSL_CTX *(*make_context)(const SSL_METHOD *);
    int (*trust_file)(SSL_CTX *, const char *);
    int (*trust_folder)(SSL_CTX *, const char *);
    void (*verify)(SSL_CTX *, int, SSL_verify_cb);
    SSL *(*make)(SSL_CTX *);
    int (*set_fd)(SSL *, int);
    int (*connect)(SSL *);
    int (*write)(SSL *, const void *, int);
    int (*read)(SSL *, void *, int);
} openssl;

static void load_openssl(void) {
    void *library = dlopen("libssl.so.3", RTLD_NOW);
    struct {
        const char *name;
        void *function;
    } wanted[] = {
        {"TLS_client_method", &openssl.method},
        {"SSL_CTX_new", &openssl.make_context},
        {"SSL_CTX_load_verify_file", &openssl.trust_file},
        {"SSL_CTX_load_verify_dir", &openssl.trust_folder},
        {"SSL_CTX_set_verify", &openssl.verify},
        {"SSL_new", &openssl.make},
        {"SSL_set_fd", &openssl.set_fd},
        {"SSL_connect", &openssl.connect},
        {"SSL_write", &openssl.write},
        {"SSL_read", &openssl.read},
    };
    for (size_t i = 0; library && i < sizeof wanted / sizeof *wanted; i++)
        *(void **)wanted[i].function = dlsym(library, wanted[i].name);
}

// The folder of hashed names is read for the one root that is needed; the bundle would be parsed as a whole.
static void trust(SSL_CTX *context, const char *ca) {
    const char *folder = getenv("SSL_CERT_DIR");
    if (ca) openssl.trust_file(context, ca);
    else openssl.trust_folder(context, folder ? folder : "/etc/ssl/certs");
}

static SSL *handshake(int fd, const char *ca) {
    load_openssl();
    if (!openssl.read) return NULL;
    SSL_CTX *context = openssl.make_context(openssl.method());
    trust(context, ca);
    openssl.verify(context, SSL_VERIFY_PEER, NULL);
    SSL *ssl = openssl.make(context);
    openssl.set_fd(ssl, fd);
    return openssl.connect(ssl) == 1 ? ssl : NULL;
}
