/// The name of a system call, comparable and free of allocation.
package enum SystemCall: Sendable, Hashable {
    case socket, bind, connect, recv, send, shutdown, setsockopt, route, netlink, epollCreate, epollControl, eventfd,
        thread,
        poll
    case open, fstat, pread
    case pwrite, truncate, fallocate, close, mkdir, link, rename, unlink, flock, random, fsync

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
        case .fallocate: "fallocate"
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
