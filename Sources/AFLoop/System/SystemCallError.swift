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
