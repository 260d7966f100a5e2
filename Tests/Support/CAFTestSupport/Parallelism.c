#include <stdlib.h>

// How many tests run at a time, for each way to start them: `swift test`, `./dev test`, an IDE. Without a limit Swift
// Testing starts all of them at once, and a test that computes for a minute starves those that wait for a server.
// A number that the caller sets wins.
__attribute__((constructor)) static void limit_parallel_tests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "4", 0);
}
