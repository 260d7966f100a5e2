// What both limits know of HTTP: a request that is prepared beforehand, and of a response what must be read.
#pragma once
#define _GNU_SOURCE
#include "../Sources/CBench/include/CBench.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { LARGEST_HEAD = 16384 };

static arguments_t arguments;
static statistics_t statistics;
static struct sockaddr_in address;
static char request[8192];
static size_t request_length;
static const char *wanted_status = "200";
static int out = -1;

static void fail(const char *why) {
    fprintf(stderr, "%s: %s\n", arguments.program, why);
    exit(1);
}

static void fail_with_errno(const char *call) {
    fprintf(stderr, "%s: %s: %s\n", arguments.program, call, strerror(errno));
    exit(1);
}

// MARK: The request

static void take_address(const char *host, int port) {
    char ip[256];
    if (sscanf(host, "%255[^:]:%d", ip, &port) < 1 || inet_pton(AF_INET, ip, &address.sin_addr) != 1)
        refuse(&arguments, "the host must be an IPv4 address: ", host);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
}

// A body of --post leaves with the head: `fields` name its length.
static void write_request(const char *verb, const char *url, const char *fields) {
    char scheme[6], host[256], path[1024] = "/";
    if (sscanf(url, "%5[a-z]://%255[^/]%1023s", scheme, host, path) < 2) refuse(&arguments, "not a URL: ", url);
    take_address(host, strcmp(scheme, "https") ? 80 : 443);
    request_length = (size_t)snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", verb, path,
                                      host, fields);
    if (request_length + (size_t)arguments.post > sizeof request) refuse(&arguments, "too large a body for --post", "");
    memset(request + request_length, 'x', (size_t)arguments.post);
    request_length += (size_t)arguments.post;
}

// MARK: The response

// The length of the head that these bytes begin with, or 0 while its end is missing.
static size_t whole_head(const char *bytes, size_t n) {
    const char *end = memmem(bytes, n, "\r\n\r\n", 4);
    if (!end) return 0;
    if (memcmp(bytes + 9, wanted_status, 3)) fail("not the status of success");
    return (size_t)(end + 4 - bytes);
}

// -1 when the head names none: then the body is chunked.
static int64_t content_length(const char *head, size_t n) {
    for (const char *line = head, *end = head + n; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) break;
        if ((line[0] | 32) == 'c' && newline - line > 16 && !strncasecmp(line, "content-length:", 15))
            return atoll(line + 15);
        line = newline + 1;
    }
    return -1;
}

// MARK: The file of --out

static void open_out(void) {
    if (!arguments.out) return;
    out = open(arguments.out, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    if (out < 0) refuse(&arguments, "cannot write to ", arguments.out);
}

// All bytes, or the program ends.
static void write_to_out(const char *bytes, size_t n) {
    for (size_t done = 0; done < n;) {
        ssize_t written = write(out, bytes + done, n - done);
        if (written <= 0) fail_with_errno("write to the file of --out");
        done += (size_t)written;
    }
}
