// One request with nothing but sockets, and OpenSSL for https: the floor of a cold start.
//
// usage: hello-c URL [CA_FILE]
#define _GNU_SOURCE
#include "hello_tls.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int connect_to(const char *host, int port) {
    char ip[256];
    struct sockaddr_in address = {.sin_family = AF_INET};
    if (sscanf(host, "%255[^:]:%d", ip, &port) < 1 || inet_pton(AF_INET, ip, &address.sin_addr) != 1) return -1;
    address.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(fd, (struct sockaddr *)&address, sizeof address) ? -1 : fd;
}

static long load(const char *url, const char *ca, char *answer, int room) {
    char scheme[6], host[256], path[1024] = "/", request[2048];
    if (sscanf(url, "%5[a-z]://%255[^/]%1023s", scheme, host, path) < 2) return -1;
    int secure = !strcmp(scheme, "https"), fd = connect_to(host, secure ? 443 : 80);
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, host);
    if (fd < 0) return -1;
    if (!secure) return send(fd, request, (size_t)length, 0) == length ? recv(fd, answer, (size_t)room, 0) : -1;
    SSL *ssl = handshake(fd, ca);
    return ssl && openssl.write(ssl, request, length) == length ? openssl.read(ssl, answer, room) : -1;
}

int main(int argc, char **argv) {
    char answer[4096];
    long n = argc > 1 ? load(argv[1], argc > 2 ? argv[2] : NULL, answer, sizeof answer) : -1;
    int failed = n < 12 || memcmp(answer + 9, "200", 3);
    if (failed) fprintf(stderr, "hello-c: no answer, or not 200\n");
    else printf("%ld\n", n);
    fflush(stdout);
    _exit(failed);
}
