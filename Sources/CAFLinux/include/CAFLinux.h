#pragma once
// Every system call of the package goes through these functions. They retry
// EINTR, never raise SIGPIPE, set CLOEXEC at creation, and return the result or
// -errno, so that Swift never reads errno. No _GNU_SOURCE here: a header that
// Swift sees with it clashes with the Glibc module.
#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

// MARK: Fault injection

typedef enum {
    CAF_CALL_SOCKET,
    CAF_CALL_CONNECT,
    CAF_CALL_RECV,
    CAF_CALL_SEND,
    CAF_CALL_SHUTDOWN,
    CAF_CALL_CLOSE,
    CAF_CALL_OPEN,
    CAF_CALL_FSTAT,
    CAF_CALL_PREAD,
    CAF_CALL_GETSOCKOPT,
    CAF_CALL_SETSOCKOPT,
    CAF_CALL_GETSOCKNAME,
    CAF_CALL_EPOLL_CREATE,
    CAF_CALL_EPOLL_CTL,
    CAF_CALL_EPOLL_WAIT,
    CAF_CALL_EVENTFD,
    CAF_CALL_CLOCK,
    CAF_CALL_THREAD,
    CAF_CALL_GETADDRINFO,
    CAF_CALL_MAKE_FOLDER,
    CAF_CALL_PWRITE,
    CAF_CALL_TRUNCATE,
    CAF_CALL_ALLOCATE,
    CAF_CALL_LINK,
    CAF_CALL_RENAME,
    CAF_CALL_UNLINK,
    CAF_CALL_RANDOM,
    CAF_CALL_SYNC,
    CAF_CALL_BIND,
    CAF_CALL_LOCK,
    CAF_CALL_READ_FOLDER,
    // What only chooses a way: whether it fails or not, the same is done.
    CAF_CALL_INQUIRE,
    CAF_CALL_COUNT
} caf_call;

// What is about to be done. A hook may lower `length`, or set `result` and
// return true to answer instead of the kernel.
typedef struct {
    caf_call call;
    int descriptor;
    size_t length;
    long result;
    // Of CAF_CALL_EPOLL_WAIT: room for `length` events, `result` of which the hook has filled in.
    struct epoll_event *events;
} caf_intercepted_call;

typedef bool (*caf_hook)(caf_intercepted_call *call);

// Null, and one predicted branch per call, outside tests.
void caf_set_hook(caf_hook hook);

// MARK: Sockets

int caf_socket_stream(int family);
int caf_connect(int descriptor, const struct sockaddr *address, socklen_t length);
// SO_ERROR, read and thereby cleared: 0, or -errno of the connection attempt.
int caf_take_socket_error(int descriptor);
int caf_local_address(int descriptor, struct sockaddr_storage *address, socklen_t *length);
long caf_recv(int descriptor, void *buffer, size_t length);
// Sends up to two slices with one call.
long caf_send(int descriptor, const void *first, size_t first_length, const void *second, size_t second_length);
int caf_shutdown_write(int descriptor);
int caf_no_delay(int descriptor);
int caf_keep_alive(int descriptor, int idle_seconds, int interval_seconds, int probes, int user_timeout_milliseconds);
// From which address of this machine, or from which of its interfaces, a connection is made: `source` is either. An
// address of another family than the socket is refused with -EAFNOSUPPORT.
int caf_bind_source(int descriptor, int family, const char *source);
// What routers (the traffic class: RFC 2474, with its two lowest bits clear) and the queues of
// this machine (0 to 6) are told about the packets of a connection.
int caf_mark_traffic(int descriptor, int family, int traffic_class, int priority);
// Never retried: after EINTR Linux has released the descriptor, and a second
// close could hit the descriptor of other code.
int caf_close(int descriptor);

// MARK: Polling

enum {
    CAF_READABLE = 1,
    CAF_WRITABLE = 2,
    CAF_HANGUP = 4
};

typedef struct {
    uint64_t token;
    uint32_t readiness;
} caf_event;

int caf_epoll_create(void);
// Edge-triggered, for reading, writing and hang-up, for the descriptor's life.
int caf_epoll_add(int epoll, int descriptor, uint64_t token);
int caf_epoll_remove(int epoll, int descriptor);
// At most 256 events. `timeout_milliseconds` -1 waits for ever.
int caf_epoll_wait(int epoll, caf_event *events, int capacity, int timeout_milliseconds);
int caf_eventfd(void);
int caf_eventfd_signal(int descriptor);

// MARK: Network

// A socket for asking the kernel about links, addresses and routes.
int caf_netlink_open(void);
// One that becomes readable when a link, an address or a route of this machine changes.
int caf_netlink_watch(void);
// Takes one datagram. `sender` is 0 if the kernel sent it; `is_truncated` if there was more than fits.
long caf_netlink_receive(int descriptor, void *buffer, size_t capacity, uint32_t *sender, bool *is_truncated);
// Takes one message: 1 if something has changed, 0 if it was not the kernel who said so, or -errno; -ENODATA if there
// was nothing in it.
int caf_netlink_take_change(int descriptor);

typedef struct {
    bool is_cellular;
    bool is_wireless;
} caf_interface_facts;

// What /sys knows of an interface. Nothing if it knows another one by that name: it may be that of another namespace.
caf_interface_facts caf_facts_of_interface(const char *name, int index);
// Whether an interface is a cellular modem.
bool caf_is_cellular(int interface);

// MARK: Files

typedef struct {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t modified_nanoseconds;
    // What the file takes on the disk, in bytes.
    int64_t allocated;
    // How many names it has.
    uint64_t links;
    uint32_t owner;
    // Permission bits without the type.
    uint32_t permissions;
    bool is_regular;
    bool is_folder;
} caf_file_status;

int caf_open_folder(const char *path);
// A folder in a folder. Never through a link.
int caf_open_folder_at(int folder, const char *name);
// A folder in a folder, made for us alone if it is missing. Never through a link.
int caf_open_own_folder(int folder, const char *name);
// A new file that is ours alone (0600), without a name where the file system can
// do that, else with `name`, which nothing may have yet. `has_name` tells which.
int caf_create_file(int folder, const char *name, bool *has_name);
// A new file that is ours alone (0600), with `name`, which nothing may have yet.
int caf_create_named_file(int folder, const char *name);
// An existing file, to read and to write. Never through a link; never waits for the other end of a FIFO.
int caf_open_file(int folder, const char *name);
// An existing file, to read only. Never through a link; never waits for the other end of a FIFO.
int caf_open_file_for_reading(int folder, const char *name);
// By its path, for reading. Does not wait: a FIFO without a writer opens at once.
int caf_open_for_reading(const char *path);
int caf_file_status_of(int descriptor, caf_file_status *status);
// Of the entry itself, not of what a link points to.
int caf_file_status_at(int folder, const char *name, caf_file_status *status);
// How many bytes the file system of an open file or folder has left for this user.
int caf_free_space(int descriptor, int64_t *bytes);
uint32_t caf_effective_user(void);
// An extended attribute. -ENODATA if the file has none of this name, -EOPNOTSUPP if the file system has none at all.
long caf_attribute(int descriptor, const char *name, void *buffer, size_t length);
int caf_set_attribute(int descriptor, const char *name, const void *value, size_t length);
int caf_remove_attribute(int descriptor, const char *name);
long caf_read_at(int descriptor, void *buffer, size_t length, int64_t offset);
// As far as the bytes are in memory: -EAGAIN if the disk would have to be asked,
// -EOPNOTSUPP if the file system cannot tell.
long caf_read_at_without_waiting(int descriptor, void *buffer, size_t length, int64_t offset);
// The file system has no disk below it, so reading never waits for one. False if that cannot be told.
bool caf_is_in_memory(int descriptor);
// Writes slices with one call. A limit on file sizes is an error, not a signal.
long caf_write_slices(int descriptor, const struct iovec *slices, int count, int64_t offset);
int caf_truncate(int descriptor, int64_t length);
// Takes the room for so many bytes from the disk. -EOPNOTSUPP where the file system cannot say in advance.
int caf_allocate(int descriptor, int64_t length);
// Waits until a file, or the names in a folder, would outlive a power failure.
int caf_sync(int descriptor);
// Gives a name to a file that was created without.
int caf_link_file(int descriptor, int folder, const char *name);
// Fails if there is something called `to`.
int caf_rename(int folder, const char *from, const char *to);
// What is called `to`, if anything, is gone with the same step.
int caf_replace(int folder, const char *from, const char *to);
// From one folder to another of the same file system. What is called `to` is replaced, or else makes it fail.
int caf_move(int from_folder, const char *from, int to_folder, const char *to, bool replaces);
int caf_unlink(int folder, const char *name);
// Only an empty one.
int caf_remove_folder(int folder, const char *name);
// Takes the file for this descriptor alone, as long as it is open. 0 or -EWOULDBLOCK.
int caf_lock_file(int descriptor);
// Gives it up for all copies of the descriptor.
void caf_unlock_file(int descriptor);
int caf_random(void *buffer, size_t length);
// A variable of the environment, or NULL; always NULL in a program with more rights than the user who started it.
const char *caf_variable(const char *name);
// Calls `body` with the names in a folder, until it returns false.
int caf_for_names(int folder, bool (*body)(const char *name, void *context), void *context);
// The home that the list of users names for this process's user. 0, or -errno; -ENOENT for a user without an entry. The
// list may be on the network.
int caf_home_of_user(char *buffer, size_t capacity);
// The path of the program that runs. Its length, without an end, or -errno; -ENAMETOOLONG if there may be more of it.
long caf_path_of_program(char *buffer, size_t capacity);
// Calls `body` with each name in a folder.
int caf_for_each_name(int folder, void (*body)(const char *name, void *context), void *context);

// MARK: Time, threads, names

int64_t caf_monotonic_nanoseconds(void);
// Since 1970.
struct timespec caf_wall_clock(void);
void caf_sleep_nanoseconds(int64_t nanoseconds);
// Lets other threads of this core run first, if any are ready.
void caf_yield(void);

// Allocates a block and frees it.
void caf_free_block(size_t size);
// A detached thread with every signal blocked but those of its own faults. 0 or -errno.
int caf_start_thread(const char *name, size_t stack_size, void (*body)(void *), void *argument);
// A mark the calling thread carries; returns the one before.
const void *caf_exchange_thread_mark(const void *mark);
const void *caf_thread_mark(void);
int caf_getaddrinfo(const char *host, struct addrinfo **result);
void caf_freeaddrinfo(struct addrinfo *list);
// Copies a description of an EAI_ code, with errno's own text for EAI_SYSTEM.
void caf_describe_resolver_error(int code, char *buffer, size_t capacity);
void caf_describe_errno(int code, char *buffer, size_t capacity);
// True in a child made by fork without exec, where our threads do not exist.
bool caf_is_forked_child(void);
void caf_watch_forks(void);
// Has the run loop of Core Foundation that runs on this thread return to its caller, if the program has one.
void caf_end_run_loop_pass(void);
// A timer of Core Foundation's that never fires by itself. 0 if the program has no Core Foundation.
// When it fires, `callout` gets `number` as its second argument, on the thread of the run loop.
uintptr_t caf_run_loop_timer_make(void (*callout)(void *, void *), uintptr_t number);
// To this thread's run loop, or the main one's.
void caf_run_loop_timer_add(uintptr_t timer, bool to_main, const char *mode);
// From any thread: it fires as soon as its loop runs in one of its modes.
void caf_run_loop_timer_fire(uintptr_t timer);
// From any thread: it never fires again.
void caf_run_loop_timer_end(uintptr_t timer);
void caf_run_loop_timer_release(uintptr_t timer);
