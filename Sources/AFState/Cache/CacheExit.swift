import AFBase
import AFTLS
import Glibc

/// Writes something when the program ends.
protocol WritesAtExit: AnyObject, Sendable {
    /// Writes, unless another thread is at the disk, which may hang.
    func catchUpIfFree()
}

/// Has stores write what they have in memory only when the program ends.
///
/// A store writes some time after it got a response, so that of each URL only the latest is written. A script that ends
/// before would write nothing.
enum CacheExit {
    private struct Entry {
        weak var store: (any WritesAtExit)?
    }

    private static let stores = Lock<[Entry]>([])
    /// A child that was forked ends without them: what other threads of its parent held stays locked in it.
    private static let process = getpid()

    /// The C library calls this first of all that was registered so far: OpenSSL, which is in use by then, ends later.
    private static let isRegistered: Bool = {
        _ = (SHA256Digest.of([UInt8]()), process)
        return atexit { CacheExit.write() } == 0
    }()

    static func note(_ store: any WritesAtExit) {
        guard isRegistered else { return }
        stores.withLock { stores in
            stores.removeAll { $0.store == nil }
            stores.append(Entry(store: store))
        }
    }

    private static func write() {
        guard getpid() == process else { return }
        for entry in stores.withLockIfFree({ $0 }) ?? [] { entry.store?.catchUpIfFree() }
    }
}
