import CAFLinux
import Dispatch  // expect: imports
import Glibc

final class Channel {
    func read(_ count: Int) {}
    func close() {}
    func connect(to address: Int) {}
    func write(_ byte: UInt8, to output: Int) {}

    enum Step {
        case send([UInt8])
    }

    func calls(fd: Int32) {
        _ = socket(AF_INET, 1, 0)  // expect: system-call
        _ = Glibc.close(fd)  // expect: system-call
        _ = epoll_ctl(fd, 1, fd, nil)  // expect: system-call
        _ = getaddrinfo("a", nil, nil, nil)  // expect: system-call
        _ = eventfd(0, 0)  // expect: system-call
        if send(fd, nil, 0, 0) < 0 { return }  // expect: system-call
        _ = fsync(fd)  // expect: system-call
        _ = ftruncate(fd, 0)  // expect: system-call
        _ = flock(fd, LOCK_EX)  // expect: system-call
        _ = fstat(fd, &found)  // expect: system-call
        _ = lstat(path, &found)  // expect: system-call
        _ = fstatat(fd, path, &found, 0)  // expect: system-call
        _ = unlinkat(fd, path, 0)  // expect: system-call
        _ = mkdirat(fd, path, 0)  // expect: system-call
        _ = renameat(fd, path, fd, path)  // expect: system-call
        _ = getrandom(&seed, 8, 0)  // expect: system-call
        _ = clock_gettime(CLOCK_MONOTONIC, &time)  // expect: system-call
        _ = pthread_create(&thread, nil, body, nil)  // expect: system-call
        _ = dup(fd)  // expect: system-call
        _ = dup2(fd, 3)  // expect: system-call
        _ = recvmmsg(fd, &messages, 8, 0, nil)  // expect: system-call
        let file = fopen(path, "r")  // expect: system-call
        try read(.count, \.count)
        close()
        self.read(3)
        connect(to: 3)
        write(UInt8(3), to: min(fd, 3))
        write(fd, UInt8(fd), 3)  // expect: system-call
        poll(fd > 0 ? fd : 1, 2)  // expect: system-call
        caf_linux_close(fd)
    }
}
