#define _GNU_SOURCE 1
#include "Perform.h"
#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

// MARK: Folders

int caf_open_folder(const char *path) {
    PERFORM(CAF_CALL_OPEN, -1, 0, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return (int)result;
}

static int make_folder(int folder, const char *name) {
    PERFORM(CAF_CALL_MAKE_FOLDER, -1, 0, mkdirat(folder, name, 0700));
    return (int)result;
}

int caf_open_folder_at(int folder, const char *name) {
    PERFORM(CAF_CALL_OPEN, -1, 0, openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    return (int)result;
}

int caf_open_own_folder(int folder, const char *name) {
    int made = make_folder(folder, name);
    if (made < 0 && made != -EEXIST) return made;
    return caf_open_folder_at(folder, name);
}

// A position of its own: a duplicate would share the one of `folder`.
static int open_again(int folder) {
    PERFORM(CAF_CALL_OPEN, -1, 0, openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return (int)result;
}

static int open_stream(int descriptor, DIR **stream) {
    PERFORM(CAF_CALL_READ_FOLDER, descriptor, 0, (*stream = fdopendir(descriptor)) != NULL ? 0 : -1);
    return (int)result;
}

// NULL behind the last one.
static int next_entry(DIR *stream, struct dirent **entry) {
    PERFORM(CAF_CALL_READ_FOLDER, dirfd(stream), 0,
            (errno = 0, *entry = readdir(stream)) != NULL || errno == 0 ? 0 : -1);
    return (int)result;
}

int caf_for_names(int folder, bool (*body)(const char *name, void *context), void *context) {
    DIR *stream = NULL;
    struct dirent *entry = NULL;
    int descriptor = open_again(folder);
    if (descriptor < 0) return descriptor;
    int status = open_stream(descriptor, &stream);
    if (status < 0) {
        caf_close(descriptor);
        return status;
    }
    while ((status = next_entry(stream, &entry)) == 0 && entry != NULL && body(entry->d_name, context)) {}
    closedir(stream);
    return status;
}

typedef struct {
    void (*body)(const char *name, void *context);
    void *context;
} each_name;

static bool take_name(const char *name, void *context) {
    const each_name *each = context;
    each->body(name, each->context);
    return true;
}

int caf_for_each_name(int folder, void (*body)(const char *name, void *context), void *context) {
    return caf_for_names(folder, take_name, &(each_name){body, context});
}

// MARK: Opening

// Whether /proc was there when it was looked for, and no file without a name has missed it since.
static atomic_bool has_proc;

// A file without a name may get one through /proc only, so it must be there.
static bool can_name_later(int descriptor) {
    if (atomic_load_explicit(&has_proc, memory_order_relaxed)) return true;
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    struct stat status;
    PERFORM(CAF_CALL_INQUIRE, descriptor, 0, lstat(path, &status));
    if (result == 0) atomic_store_explicit(&has_proc, true, memory_order_relaxed);
    return result == 0;
}

static int create_nameless(int folder) {
    PERFORM(CAF_CALL_OPEN, -1, 0, openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (result < 0 || can_name_later((int)result)) return (int)result;
    caf_close((int)result);
    return -EOPNOTSUPP;
}

int caf_create_file(int folder, const char *name, bool *has_name) {
    *has_name = false;
    int nameless = create_nameless(folder);
    // Old kernels see the flags as an attempt to open the folder itself.
    if (nameless != -EOPNOTSUPP && nameless != -EISDIR && nameless != -ENOENT && nameless != -EINVAL) return nameless;
    *has_name = true;
    return caf_create_named_file(folder, name);
}

int caf_create_named_file(int folder, const char *name) {
    PERFORM(CAF_CALL_OPEN, -1, 0, openat(folder, name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600));
    return (int)result;
}

int caf_open_file(int folder, const char *name) {
    PERFORM(CAF_CALL_OPEN, -1, 0, openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    return (int)result;
}

int caf_open_file_for_reading(int folder, const char *name) {
    PERFORM(CAF_CALL_OPEN, -1, 0, openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    return (int)result;
}

int caf_open_for_reading(const char *path) {
    PERFORM(CAF_CALL_OPEN, -1, 0, open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    // Twice the usual read-ahead; without it reading works all the same.
    if (result >= 0) (void)posix_fadvise((int)result, 0, 0, POSIX_FADV_SEQUENTIAL);
    return (int)result;
}

// MARK: Status

static void copy_status(const struct stat *from, caf_file_status *to) {
    *to = (caf_file_status){
        .device = from->st_dev,
        .inode = from->st_ino,
        .size = from->st_size,
        // Unsigned, since a date may be any number; one beyond the year 2262 becomes another one.
        .modified_nanoseconds = (int64_t)((uint64_t)from->st_mtim.tv_sec * 1000000000 + (uint64_t)from->st_mtim.tv_nsec),
        .allocated = (int64_t)from->st_blocks * 512,
        .links = from->st_nlink,
        .owner = from->st_uid,
        .permissions = from->st_mode & 07777,
        .is_regular = S_ISREG(from->st_mode),
        .is_folder = S_ISDIR(from->st_mode),
    };
}

int caf_file_status_of(int descriptor, caf_file_status *status) {
    struct stat found = {0};
    PERFORM(CAF_CALL_FSTAT, descriptor, 0, fstat(descriptor, &found));
    if (result >= 0) copy_status(&found, status);
    return (int)result;
}

int caf_file_status_at(int folder, const char *name, caf_file_status *status) {
    struct stat found = {0};
    PERFORM(CAF_CALL_FSTAT, -1, 0, fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW));
    if (result >= 0) copy_status(&found, status);
    return (int)result;
}

int caf_free_space(int descriptor, int64_t *bytes) {
    struct statfs system = {0};
    PERFORM(CAF_CALL_FSTAT, descriptor, 0, fstatfs(descriptor, &system));
    // The size of a block has another name on file systems that know fragments; Linux sets it on all.
    int64_t size = system.f_frsize > 0 ? system.f_frsize : system.f_bsize;
    if (result >= 0 && __builtin_mul_overflow((int64_t)system.f_bavail, size, bytes)) *bytes = INT64_MAX;
    return (int)result;
}

uint32_t caf_effective_user(void) { return geteuid(); }

// MARK: Extended attributes

long caf_attribute(int descriptor, const char *name, void *buffer, size_t length) {
    PERFORM(CAF_CALL_INQUIRE, descriptor, 0, fgetxattr(descriptor, name, buffer, length));
    return result;
}

int caf_set_attribute(int descriptor, const char *name, const void *value, size_t length) {
    PERFORM(CAF_CALL_INQUIRE, descriptor, 0, fsetxattr(descriptor, name, value, length, 0));
    return (int)result;
}

int caf_remove_attribute(int descriptor, const char *name) {
    PERFORM(CAF_CALL_INQUIRE, descriptor, 0, fremovexattr(descriptor, name));
    return (int)result;
}

// MARK: Bytes

long caf_read_at(int descriptor, void *buffer, size_t length, int64_t offset) {
    PERFORM(CAF_CALL_PREAD, descriptor, length, pread(descriptor, buffer, call.length, offset));
    return result;
}

long caf_read_at_without_waiting(int descriptor, void *buffer, size_t length, int64_t offset) {
    PERFORM(CAF_CALL_PREAD, descriptor, length,
            preadv2(descriptor, &(struct iovec){buffer, call.length}, 1, offset, RWF_NOWAIT));
    return result == -ENOSYS || result == -EINVAL ? -EOPNOTSUPP : result;
}

bool caf_is_in_memory(int descriptor) {
    struct statfs system;
    PERFORM(CAF_CALL_INQUIRE, descriptor, 0, fstatfs(descriptor, &system));
    return result == 0 && (system.f_type == TMPFS_MAGIC || system.f_type == RAMFS_MAGIC);
}

static long write_up_to(int descriptor, const struct iovec *slices, int count, int64_t offset, size_t wanted,
                        size_t limit) {
    if (limit >= wanted) return pwritev(descriptor, slices, count, offset);
    size_t length = slices[0].iov_len < limit ? slices[0].iov_len : limit;
    return pwrite(descriptor, slices[0].iov_base, length, offset);
}

// At its limit a file raises SIGXFSZ, which ends a program that knows nothing of it.
static long write_without_signal(int descriptor, const struct iovec *slices, int count, int64_t offset,
                                 size_t wanted, size_t limit) {
    sigset_t excess, previous;
    sigemptyset(&excess);
    sigaddset(&excess, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &excess, &previous);
    long result = write_up_to(descriptor, slices, count, offset, wanted, limit);
    int error = errno;
    if (result < 0 && error == EFBIG && !sigismember(&previous, SIGXFSZ)) {
        // Without waiting: that is not interrupted.
        struct timespec now = {0};
        sigtimedwait(&excess, NULL, &now);
    }
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    errno = error;
    return result;
}

long caf_write_slices(int descriptor, const struct iovec *slices, int count, int64_t offset) {
    size_t wanted = 0;
    for (int i = 0; i < count; i++) wanted += slices[i].iov_len;
    PERFORM(CAF_CALL_PWRITE, descriptor, wanted,
            write_without_signal(descriptor, slices, count, offset, wanted, call.length));
    return result;
}

int caf_truncate(int descriptor, int64_t length) {
    PERFORM(CAF_CALL_TRUNCATE, descriptor, 0, ftruncate(descriptor, length));
    return (int)result;
}

int caf_allocate(int descriptor, int64_t length) {
    PERFORM(CAF_CALL_ALLOCATE, descriptor, 0, fallocate(descriptor, 0, 0, length));
    return (int)result;
}

int caf_sync(int descriptor) {
    PERFORM(CAF_CALL_SYNC, descriptor, 0, fsync(descriptor));
    return (int)result;
}

// MARK: Names

// Before Linux 6.10 only a process with CAP_DAC_READ_SEARCH names a file by its descriptor alone.
static atomic_bool names_through_proc;

static int link_by_descriptor(int descriptor, int folder, const char *name) {
    PERFORM(CAF_CALL_LINK, descriptor, 0, linkat(descriptor, "", folder, name, AT_EMPTY_PATH));
    return (int)result;
}

static int link_through_proc(int descriptor, int folder, const char *name) {
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    PERFORM(CAF_CALL_LINK, descriptor, 0, linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW));
    return (int)result;
}

int caf_link_file(int descriptor, int folder, const char *name) {
    if (!atomic_load_explicit(&names_through_proc, memory_order_relaxed)) {
        int result = link_by_descriptor(descriptor, folder, name);
        // Also said of a folder that was removed.
        if (result != -ENOENT) return result;
    }
    int result = link_through_proc(descriptor, folder, name);
    if (result == 0) atomic_store_explicit(&names_through_proc, true, memory_order_relaxed);
    if (result == -ENOENT) atomic_store_explicit(&has_proc, false, memory_order_relaxed);
    return result;
}

static int move_to_free_name(int from_folder, const char *from, int to_folder, const char *to) {
    PERFORM(CAF_CALL_RENAME, -1, 0, renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE));
    return (int)result;
}

static int move_to_name(int from_folder, const char *from, int to_folder, const char *to) {
    PERFORM(CAF_CALL_RENAME, -1, 0, renameat(from_folder, from, to_folder, to));
    return (int)result;
}

static int give_second_name(int from_folder, const char *from, int to_folder, const char *to) {
    PERFORM(CAF_CALL_LINK, -1, 0, linkat(from_folder, from, to_folder, to, 0));
    return (int)result;
}

// The file system does not know the flag.
static bool cannot_see_to_free_names(int failed) { return failed == -EINVAL || failed == -ENOSYS; }

int caf_rename(int folder, const char *from, const char *to) {
    int result = move_to_free_name(folder, from, folder, to);
    // Names are random, so nothing is lost.
    return cannot_see_to_free_names(result) ? move_to_name(folder, from, folder, to) : result;
}

int caf_replace(int folder, const char *from, const char *to) { return move_to_name(folder, from, folder, to); }

static int move_exclusively(int from_folder, const char *from, int to_folder, const char *to) {
    int result = move_to_free_name(from_folder, from, to_folder, to);
    if (!cannot_see_to_free_names(result)) return result;
    // A second name is refused as well where there is one already.
    result = give_second_name(from_folder, from, to_folder, to);
    if (result == 0) (void)caf_unlink(from_folder, from);
    if (result != -EPERM && result != -EOPNOTSUPP && result != -ENOSYS) return result;
    // Nor does it know second names: another process that takes the name in this moment loses its file.
    caf_file_status status;
    result = caf_file_status_at(to_folder, to, &status);
    if (result == 0) return -EEXIST;
    return result == -ENOENT ? move_to_name(from_folder, from, to_folder, to) : result;
}

int caf_move(int from_folder, const char *from, int to_folder, const char *to, bool replaces) {
    return replaces ? move_to_name(from_folder, from, to_folder, to)
                    : move_exclusively(from_folder, from, to_folder, to);
}

int caf_unlink(int folder, const char *name) {
    PERFORM(CAF_CALL_UNLINK, -1, 0, unlinkat(folder, name, 0));
    return (int)result;
}

int caf_remove_folder(int folder, const char *name) {
    PERFORM(CAF_CALL_UNLINK, -1, 0, unlinkat(folder, name, AT_REMOVEDIR));
    return (int)result;
}

int caf_lock_file(int descriptor) {
    PERFORM(CAF_CALL_LOCK, descriptor, 0, flock(descriptor, LOCK_EX | LOCK_NB));
    return (int)result;
}

void caf_unlock_file(int descriptor) {
    // What fails here, closing does.
    (void)flock(descriptor, LOCK_UN);
}

int caf_random(void *buffer, size_t length) {
    PERFORM(CAF_CALL_RANDOM, -1, length, getrandom(buffer, length, 0));
    if (result < 0) return (int)result;
    return (size_t)result == length ? 0 : -EIO;
}

const char *caf_variable(const char *name) {
    return secure_getenv(name);
}

int caf_home_of_user(char *buffer, size_t capacity) {
    char texts[16384];
    struct passwd entry, *found = NULL;
    int code;
    do {
        code = getpwuid_r(geteuid(), &entry, texts, sizeof texts, &found);
    } while (code == EINTR);
    if (code != 0) return -code;
    if (found == NULL || entry.pw_dir == NULL) return -ENOENT;
    size_t length = strlen(entry.pw_dir);
    if (length >= capacity) return -ENAMETOOLONG;
    memcpy(buffer, entry.pw_dir, length + 1);
    return 0;
}

long caf_path_of_program(char *buffer, size_t capacity) {
    PERFORM(CAF_CALL_INQUIRE, -1, capacity, readlink("/proc/self/exe", buffer, capacity));
    if (result < 0) return result;
    return (size_t)result < capacity ? result : -ENAMETOOLONG;
}
