import CAFLinux

/// A system call that failed, and how.
package struct SystemCallError: Error, Sendable, Hashable, CustomStringConvertible {
    package let call: SystemCall
    package let code: Int32

    package init(_ call: SystemCall, code: Int32) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call.name): \(SystemCallError.text(of: code)) (errno \(code))" }

    package static func text(of code: Int32) -> String { text { caf_describe_errno(code, $0, $1) } }

    static func text(_ fill: (UnsafeMutablePointer<CChar>, Int) -> Void) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            buffer.initialize(repeating: 0)
            fill(base, buffer.count)
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// The name of a system call, comparable and free of allocation.
package enum SystemCall: Sendable, Hashable {
    case socket, bind, connect, recv, send, shutdown, setsockopt, route, netlink, epollCreate, epollControl, eventfd,
        thread,
        poll
    case open, fstat, pread
    case pwrite, truncate, close, mkdir, link, rename, unlink, flock, random, fsync

    package var name: String {
        switch self {
        case .socket: "socket"
        case .bind: "bind"
        case .connect: "connect"
        case .recv: "recv"
        case .send: "send"
        case .shutdown: "shutdown"
        case .setsockopt: "setsockopt"
        case .route: "RTM_GETROUTE"
        case .netlink: "netlink"
        case .epollCreate: "epoll_create1"
        case .epollControl: "epoll_ctl"
        case .eventfd: "eventfd"
        case .thread: "pthread_create"
        case .poll: "epoll_wait"
        case .open: "open"
        case .fstat: "fstat"
        case .pread: "pread"
        case .pwrite: "pwritev"
        case .truncate: "ftruncate"
        case .close: "close"
        case .mkdir: "mkdirat"
        case .link: "linkat"
        case .rename: "renameat2"
        case .unlink: "unlinkat"
        case .flock: "flock"
        case .random: "getrandom"
        case .fsync: "fsync"
        }
    }
}
