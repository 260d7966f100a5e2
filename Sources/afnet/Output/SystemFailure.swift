import Glibc

/// A system call that failed.
struct SystemFailure: Error {
    let code: Int32

    /// In words, as the system has them.
    var text: String { String(cString: strerror(code)) }
}
