internal import CAFOpenSSL
internal import Glibc

/// Files and folders of certificates.
enum FileReader {
    /// Far above any bundle; a wrong path must not fill the memory.
    static let limit = 16 * 1024 * 1024

    static func bytes(atPath path: String, limit: Int = limit) throws(CertificateError) -> [UInt8] {
        guard !path.utf8.contains(0) else { throw CertificateError(.missing, message: "the path contains a NUL") }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        let code = path.withCString { caf_read_file($0, limit, &bytes, &count) }
        guard code == 0, let bytes else { throw error(code, limit: limit) }
        defer { caf_free(bytes) }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Sorted by their bytes.
    static func names(inFolder path: String) throws(CertificateError) -> [String] {
        guard !path.utf8.contains(0) else {
            throw CertificateError(.missing, message: "the path contains a NUL", path: path)
        }
        var names: UnsafeMutablePointer<UInt8>?
        var count = 0
        let code = path.withCString { caf_list_folder($0, &names, &count) }
        guard code == 0, let names else { throw error(code).from(path) }
        defer { caf_free(names) }
        return UnsafeBufferPointer(start: names, count: count).split(separator: 0)
            .sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private static func error(_ code: Int32, limit: Int = limit) -> CertificateError {
        switch code {
        case ENOENT: CertificateError(.missing, message: "there is no such file or folder")
        case EFBIG: CertificateError(.tooLarge, message: "it is larger than \(limit >> 20) MiB")
        case EISDIR:
            CertificateError(.unreadable, message: "it is a folder; name a file, or ask for the folder's certificates")
        case ENOTSUP: CertificateError(.unreadable, message: "it is not a regular file")
        case EACCES: CertificateError(.unreadable, message: "this user may not read it")
        default: CertificateError(.unreadable, message: "it cannot be read: \(text(of: code))")
        }
    }

    private static func text(of code: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { buffer in
            guard let base = buffer.baseAddress else { return "" }
            buffer.initialize(repeating: 0)
            caf_errno_text(code, base, buffer.count)
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
