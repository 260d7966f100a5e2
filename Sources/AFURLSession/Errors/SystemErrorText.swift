import Glibc

/// The system's words for an error number.
enum SystemErrorText {
    static func of(_ errno: Int32) -> String {
        // glibc's strerror is safe on any thread since 2.32; Debian 12 has 2.36. It never returns null.
        let text = strerror(errno).map { String(cString: $0) } ?? "unknown error"
        return "\(text), errno \(errno)"
    }
}
