// Cold start: runs a program ROUNDS times and prints a line of JSON with medians of the time from its start to its
// first byte of output (which comes after its first response) and to its end, of its CPU time and peak resident size.
//
// usage: coldstart ROUNDS PROGRAM [ARGUMENT ...]
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS, END_MS, CPU_MS, RSS_KB, FIGURES };

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_ms(const struct rusage *usage) {
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3;
}

static pid_t start(char **words, int output) {
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t pid;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (posix_spawnp(&pid, words[0], &actions, NULL, words, environ)) {
        fprintf(stderr, "coldstart: cannot start %s\n", words[0]);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void run(char **words, double *figures) {
    int ends[2], status;
    char bytes[256];
    struct rusage usage;
    if (pipe2(ends, O_CLOEXEC)) exit(1);
    double began = now_ms();
    pid_t pid = start(words, ends[1]);
    close(ends[1]);
    ssize_t n = read(ends[0], bytes, sizeof bytes);
    double first = now_ms();
    wait4(pid, &status, 0, &usage);
    double end = now_ms();
    close(ends[0]);
    if (n <= 0 || status != 0) {
        fprintf(stderr, "coldstart: %s printed nothing, or failed\n", words[0]);
        exit(1);
    }
    figures[FIRST_MS] = first - began;
    figures[END_MS] = end - began;
    figures[CPU_MS] = cpu_ms(&usage);
    figures[RSS_KB] = (double)usage.ru_maxrss;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double (*rows)[FIGURES], int count, int figure) {
    double *values = malloc(sizeof(double) * (size_t)count);
    for (int i = 0; i < count; i++) values[i] = rows[i][figure];
    qsort(values, (size_t)count, sizeof(double), compare);
    double middle = values[count / 2];
    free(values);
    return middle;
}

int main(int argc, char **argv) {
    int rounds = argc > 2 ? atoi(argv[1]) : 0;
    if (rounds < 1) {
        fprintf(stderr, "usage: coldstart ROUNDS PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    double(*rows)[FIGURES] = calloc((size_t)rounds, sizeof *rows);
    run(argv + 2, rows[0]); // warms the page cache
    for (int i = 0; i < rounds; i++) run(argv + 2, rows[i]);
    printf("{\"client\":\"%s\",\"n\":%d,\"first_ms\":%.3f,\"end_ms\":%.3f,\"cpu_ms\":%.3f,\"rss_kb\":%.0f}\n",
           strrchr(argv[2], '/') ? strrchr(argv[2], '/') + 1 : argv[2], rounds, median(rows, rounds, FIRST_MS),
           median(rows, rounds, END_MS), median(rows, rounds, CPU_MS), median(rows, rounds, RSS_KB));
    return 0;
}
