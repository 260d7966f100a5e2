import Glibc

/// A system call that failed.
struct SystemFailure: Error {
    let code: Int32

    var isMissingFile: Bool { code == ENOENT }

    /// In words, as the system has them.
    var text: String { String(cString: strerror(code)) }
}
