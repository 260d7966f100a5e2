import Glibc

/// The system's text for an error number.
enum SystemErrorText {
    static func of(_ errno: Int32) -> String {
        // glibc's strerror is safe on any thread since 2.32. Debian 12 has 2.36.
        guard let text = strerror(errno) else { return "errno \(errno)" }
        let words = String(decoding: UnsafeRawBufferPointer(start: text, count: strlen(text)), as: UTF8.self)
        return "\(words), errno \(errno)"
    }
}
