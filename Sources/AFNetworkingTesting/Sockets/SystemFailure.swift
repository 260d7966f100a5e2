import Glibc

/// A system call that failed, with its errno value.
struct SystemFailure: Error, Sendable, Equatable {
    let call: String
    let code: Int32

    init(call: String, code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    var text: String { "\(call): \(String(cString: strerror(code)))" }
}
