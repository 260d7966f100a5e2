import Glibc

/// What a process inherits, made safe to use.
enum StandardStreams {
    static func prepare() {
        // A reader that went away is an error of write, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        // The number of a closed stream would go to the next socket, and bodies into it. Opened the
        // wrong way round, it fails as a closed one would.
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", mode)
        }
    }
}
