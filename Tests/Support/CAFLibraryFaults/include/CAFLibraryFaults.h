#pragma once
// Functions of OpenSSL and zlib that fail when they are told to, and memory that they do not get.
//
// What is linked with this has functions of its own by the names in Functions.def. Each asks the plan, and goes on to
// the library. Only calls from the program itself count: what the libraries call each other is theirs. Threads whose
// name begins with "AFTest", those of the test server, are never let down.
#include <stdbool.h>

typedef enum {
    // Fails, and says why in OpenSSL's queue of errors, as it does itself.
    CAFL_FAILS,
    // Fails in another way: without a word, or with another result.
    CAFL_FAILS_OTHERWISE,
    // Memory, for which there is one way.
    CAFL_NO_MEMORY
} cafl_way;

// Must come before any use of OpenSSL. False if it was too late.
bool cafl_take_memory(void);

// Every function, and last of all the memory of OpenSSL and that of zlib.
int cafl_count(void);
const char *cafl_name(int function);
bool cafl_is_memory(int function);

// Counts from now on, and lets nothing fail.
void cafl_watch(void);
// Counts from now on; the `ordinal`-th call of this function, the first being 1, fails.
void cafl_arm(int function, cafl_way way, long ordinal);
void cafl_disarm(void);
bool cafl_fired(void);
long cafl_calls(int function);
// Blocks of memory that OpenSSL and zlib hold, on behalf of any caller.
long cafl_held(void);
// As long as there were more of these with 1 than with -1, the thread is not let down.
void cafl_spare(int step);
