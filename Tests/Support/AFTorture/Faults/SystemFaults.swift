import AFFaults
import CAFLinux
import Glibc

/// Faults of the system calls, all of which go through `CAFLinux`.
///
/// The errors are those of the manual pages that can happen to us: none that says we passed a bad argument, but for
/// options, which other kernels may not know.
package struct SystemFaults: FaultSource {
    package let faults = SystemFaults.table.flatMap(\.faults)

    package init() {}

    package func watch() {
        FaultInjector.stop()
        FaultInjector.watch()
    }

    package func arm(_ point: FaultPoint) { FaultInjector.plan(point.fault.injected, of: point.call, point.ordinal) }
    package func disarm() { FaultInjector.spare() }
    package func calls(of number: Int32) -> Int { FaultInjector.calls(caf_call(UInt32(number))) }
    package var hasFired: Bool { FaultInjector.hasFired }
    package var offences: Int { FaultInjector.badCloses }
    package var heldBlocks: Int { 0 }
    // The test kit has system calls of its own.
    package func spare<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }

    /// What may happen to one kind of call.
    private struct Row {
        let call: caf_call
        let name: String
        let shown: [Int32]
        let hidden: [Int32]
        var lengths: [Int] = []
        /// The call says at once that the other end is closed.
        var mayEnd = false
        /// A program must not notice whatever happens.
        var isAlwaysHidden = false
        /// What the errors are called, if they are none of `errno`.
        var names: [Int32: String]?

        var faults: [Fault] {
            let number = Int32(call.rawValue)
            let failing = (shown + hidden).map { code in
                Fault(
                    name,
                    number,
                    .answers(-Int(code)),
                    (names ?? errnoNames)[code] ?? "\(code)",
                    isHidden: isAlwaysHidden || hidden.contains(code)
                )
            }
            let short = lengths.map { Fault(name, number, .moves($0), "short-\($0)", isHidden: true) }
            return failing + short + (mayEnd ? [Fault(name, number, .answers(0), "end")] : [])
        }
    }

    private static let table: [Row] = [
        Row(
            call: CAF_CALL_SOCKET,
            name: "socket",
            shown: [EMFILE, ENFILE, ENOMEM, ENOBUFS, EACCES, EPERM, EAFNOSUPPORT, EPROTONOSUPPORT],
            hidden: [EINTR]
        ),
        Row(
            call: CAF_CALL_CONNECT,
            name: "connect",
            shown: [
                ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EACCES, EPERM, ETIMEDOUT, EAGAIN, ENOBUFS,
                ECONNRESET,
            ],
            hidden: [EINTR]
        ),
        Row(
            call: CAF_CALL_RECV,
            name: "recv",
            shown: [ECONNRESET, ETIMEDOUT, ENOMEM, ENOBUFS, EIO],
            hidden: [EINTR, EAGAIN],
            lengths: [1, 7],
            mayEnd: true
        ),
        Row(
            call: CAF_CALL_SEND,
            name: "send",
            shown: [EPIPE, ECONNRESET, ENOMEM],
            hidden: [EINTR, EAGAIN, ENOBUFS],
            lengths: [1, 7]
        ),
        Row(call: CAF_CALL_SHUTDOWN, name: "shutdown", shown: [ENOTCONN, ENOBUFS], hidden: [EINTR]),
        Row(call: CAF_CALL_CLOSE, name: "close", shown: [ENOSPC, EDQUOT, EIO], hidden: [EINTR]),
        Row(
            call: CAF_CALL_OPEN,
            name: "open",
            shown: [EMFILE, ENFILE, ENOMEM, ENOENT, EACCES, ENOSPC, EROFS, EIO, ELOOP, EOPNOTSUPP, EISDIR],
            hidden: [EINTR]
        ),
        Row(call: CAF_CALL_FSTAT, name: "fstat", shown: [EIO, ENOMEM, EACCES, ENOENT], hidden: [EINTR]),
        Row(call: CAF_CALL_PREAD, name: "pread", shown: [EIO], hidden: [EINTR], lengths: [1, 7], mayEnd: true),
        Row(
            call: CAF_CALL_PWRITE,
            name: "pwrite",
            shown: [ENOSPC, EDQUOT, EFBIG, EIO],
            hidden: [EINTR],
            lengths: [1, 7]
        ),
        Row(call: CAF_CALL_GETSOCKOPT, name: "getsockopt", shown: [ENOBUFS], hidden: [EINTR]),
        Row(
            call: CAF_CALL_SETSOCKOPT,
            name: "setsockopt",
            shown: [EINVAL, ENOPROTOOPT, ENOMEM],
            hidden: [EINTR],
            isAlwaysHidden: true
        ),
        Row(
            call: CAF_CALL_GETSOCKNAME,
            name: "getsockname",
            shown: [ENOBUFS],
            hidden: [EINTR],
            isAlwaysHidden: true
        ),
        Row(call: CAF_CALL_EPOLL_CREATE, name: "epoll_create", shown: [EMFILE, ENFILE, ENOMEM], hidden: []),
        Row(call: CAF_CALL_EPOLL_CTL, name: "epoll_ctl", shown: [ENOMEM, ENOSPC], hidden: []),
        Row(call: CAF_CALL_EPOLL_WAIT, name: "epoll_wait", shown: [], hidden: [EINTR]),
        Row(call: CAF_CALL_EVENTFD, name: "eventfd", shown: [EMFILE, ENFILE, ENOMEM, ENODEV], hidden: []),
        Row(call: CAF_CALL_CLOCK, name: "clock_gettime", shown: [EINVAL], hidden: [], isAlwaysHidden: true),
        Row(call: CAF_CALL_THREAD, name: "pthread_create", shown: [EAGAIN], hidden: []),
        Row(
            call: CAF_CALL_GETADDRINFO,
            name: "getaddrinfo",
            shown: [-EAI_NONAME, -EAI_AGAIN, -EAI_MEMORY, -EAI_FAIL, -EAI_SYSTEM],
            hidden: [],
            names: resolverNames
        ),
        Row(
            call: CAF_CALL_MAKE_FOLDER,
            name: "mkdirat",
            shown: [EACCES, ENOSPC, EDQUOT, EROFS, EMLINK, EIO],
            hidden: [EINTR]
        ),
        Row(call: CAF_CALL_TRUNCATE, name: "ftruncate", shown: [EIO, EFBIG, ENOSPC], hidden: [EINTR]),
        Row(call: CAF_CALL_ALLOCATE, name: "fallocate", shown: [EIO, EFBIG, ENOSPC], hidden: [EINTR, EOPNOTSUPP]),
        Row(call: CAF_CALL_LINK, name: "linkat", shown: [EEXIST, ENOSPC, EACCES, EXDEV, EIO], hidden: [EINTR]),
        Row(
            call: CAF_CALL_RENAME,
            name: "renameat",
            shown: [EACCES, ENOSPC, EDQUOT, EEXIST, ENOENT, EIO, EINVAL],
            hidden: [EINTR]
        ),
        Row(call: CAF_CALL_UNLINK, name: "unlinkat", shown: [EACCES, EBUSY, EIO, EROFS], hidden: [EINTR]),
        Row(call: CAF_CALL_RANDOM, name: "getrandom", shown: [ENOSYS], hidden: [EINTR]),
        Row(call: CAF_CALL_SYNC, name: "fsync", shown: [EIO, ENOSPC, EDQUOT], hidden: [EINTR]),
        Row(call: CAF_CALL_LOCK, name: "flock", shown: [EAGAIN, ENOLCK], hidden: [EINTR]),
        Row(call: CAF_CALL_BIND, name: "bind", shown: [EADDRINUSE, ENOMEM, EACCES], hidden: [EINTR]),
        Row(call: CAF_CALL_READ_FOLDER, name: "readdir", shown: [EIO, ENOMEM, ENOENT], hidden: [EINTR]),
        Row(
            call: CAF_CALL_INQUIRE,
            name: "inquiry",
            shown: [ENOENT, EACCES, EIO],
            hidden: [EINTR],
            isAlwaysHidden: true
        ),
    ]

    private static let errnoNames: [Int32: String] = [
        EACCES: "EACCES", EADDRINUSE: "EADDRINUSE", EADDRNOTAVAIL: "EADDRNOTAVAIL", EAFNOSUPPORT: "EAFNOSUPPORT",
        EAGAIN: "EAGAIN", EBUSY: "EBUSY", ECONNREFUSED: "ECONNREFUSED", ECONNRESET: "ECONNRESET", EDQUOT: "EDQUOT",
        EEXIST: "EEXIST", EFBIG: "EFBIG", EHOSTUNREACH: "EHOSTUNREACH", EINTR: "EINTR", EINVAL: "EINVAL", EIO: "EIO",
        EISDIR: "EISDIR", EOPNOTSUPP: "EOPNOTSUPP",
        ELOOP: "ELOOP", EMFILE: "EMFILE", EMLINK: "EMLINK", ENETUNREACH: "ENETUNREACH", ENFILE: "ENFILE",
        ENOBUFS: "ENOBUFS", ENODEV: "ENODEV", ENOLCK: "ENOLCK", ENOENT: "ENOENT", ENOMEM: "ENOMEM",
        ENOPROTOOPT: "ENOPROTOOPT",
        ENOSPC: "ENOSPC", ENOSYS: "ENOSYS", ENOTCONN: "ENOTCONN", EPERM: "EPERM", EPIPE: "EPIPE",
        EPROTONOSUPPORT: "EPROTONOSUPPORT", EROFS: "EROFS", ETIMEDOUT: "ETIMEDOUT", EXDEV: "EXDEV",
    ]

    private static let resolverNames: [Int32: String] = [
        -EAI_NONAME: "EAI_NONAME", -EAI_AGAIN: "EAI_AGAIN", -EAI_MEMORY: "EAI_MEMORY", -EAI_FAIL: "EAI_FAIL",
        -EAI_SYSTEM: "EAI_SYSTEM",
    ]
}

extension Fault {
    fileprivate var injected: FaultInjector.Fault {
        switch effect {
        case .answers(let result): .answers(result)
        case .moves(let count): .isShort(count)
        }
    }
}

extension FaultPoint {
    fileprivate var call: caf_call { caf_call(UInt32(fault.number)) }
}
