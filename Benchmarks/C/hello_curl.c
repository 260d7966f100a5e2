// One request with libcurl's easy interface.
//
// usage: hello-curl URL [CA_FILE]
#include <curl/curl.h>
#include <stdio.h>
#include <unistd.h>

static size_t count(char *bytes, size_t one, size_t n, void *total) {
    (void)bytes;
    *(long *)total += (long)(one * n);
    return n;
}

int main(int argc, char **argv) {
    long n = 0, status = 0;
    CURL *easy = curl_easy_init();
    if (argc < 2) return 2;
    curl_easy_setopt(easy, CURLOPT_URL, argv[1]);
    if (argc > 2) curl_easy_setopt(easy, CURLOPT_CAINFO, argv[2]);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, count);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, &n);
    CURLcode result = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (result || status != 200) fprintf(stderr, "hello-curl: %s, status %ld\n", curl_easy_strerror(result), status);
    else printf("%ld\n", n);
    fflush(stdout);
    _exit(result || status != 200);
}
