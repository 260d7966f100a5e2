#pragma once
// What tests need and Swift cannot do: a hook into the package's system calls,
// and fork. The hook is one per process; use it in a process of its own.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Faults

// Counts calls from now on, and audits every close.
void caft_watch(void);
// Ends everything below and stops counting; what AFNET_PERTURB wants goes on.
void caft_stop(void);
// Nothing planned happens any more.
void caft_spare(void);
// The `ordinal`-th call of this kind from now on, the first being 1, answers
// `result` instead of the kernel.
void caft_fail_call(int call, long ordinal, long result);
// The `ordinal`-th call of this kind moves at most `length` bytes.
void caft_shorten_call(int call, long ordinal, size_t length);
// Every receive and send answers EAGAIN with this probability, and moves at most
// `length` bytes otherwise (0: as many as it wants).
void caft_disturb(int percent, size_t length, uint64_t seed);
// Calls that were answered EAGAIN or moved fewer bytes than they could have, in all.
long caft_disturbed_calls(void);
// The process is killed in front of the `ordinal`-th call of any kind from now on.
void caft_die_at_call(long ordinal);
// The planned fault has happened.
bool caft_fired(void);
long caft_calls(int call);
// Closes of descriptors that were not open.
long caft_bad_closes(void);

// MARK: Names

// Lookups wait until they are let go.
void caft_hold_lookups(bool hold);
long caft_held_lookups(void);
// The most lookups that ever waited at a time.
long caft_most_held_lookups(void);
// Every lookup answers this EAI_ code; 1 means to ask the system again.
void caft_answer_lookups(long code);

// MARK: Processes

// Runs `body` in a forked child and returns the child's exit status, or -1 if it
// died of a signal (after 10 seconds of its alarm).
int caft_run_in_fork(int (*body)(void *), void *argument);
// Starts a program whose standard input, output and errors are the given descriptors, and which has no others.
// Returns its number, or a negative errno.
int caft_spawn(const char *program, char *const words[], char *const variables[], int input, int output, int errors);
// Microseconds of CPU this process has used.
int64_t caft_cpu_microseconds(void);
// Bytes that malloc has handed out and not got back.
int64_t caft_heap_bytes(void);

// MARK: One thread's calls

// Asked in front of each system call of one thread. May lower `length`, or set `result` and return true to answer instead
// of the kernel.
typedef bool (*caft_router)(void *context, int call, int descriptor, size_t *length, long *result);

// From now on `router` is asked by the calling thread, and by no other. Unlike the faults above this can be used beside
// other tests, but not beside those.
void caft_route(caft_router router, void *context);
// Ends that, if it is still the router with this context.
void caft_unroute(void *context);

// Files that are made in the folder from now on may be used by every user, as far as the mode they are made with
// allows. Nothing happens where the file system has no lists of rights.
void caft_give_rights_by_default(const char *folder);

// From now on the process passes for one with more rights than the user who started it, as far as `secure_getenv`
// tells.
void caft_claim_more_rights(void);

// MARK: Silence

// The other end of a connection, in this process too, takes nothing any more: it does not even confirm what comes, as
// if its machine had lost power. False if there is none.
bool caft_silence_other_end(int descriptor);
