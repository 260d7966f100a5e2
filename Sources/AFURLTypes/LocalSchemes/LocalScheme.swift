import AFBase
import AFWire
package import Foundation

/// Schemes that the session loads without a network and without a URL protocol class.
package enum LocalScheme: Sendable {
    case data
    case file

    package init?(_ url: URL) {
        let scheme: LocalScheme? = url.absoluteString.withUTF8Bytes { bytes in
            let start = UnsafeRawBufferPointer(rebasing: bytes.prefix(5))
            if ByteScanning.equalsIgnoringCase(start, lowercase: "data:") { return .data }
            return ByteScanning.equalsIgnoringCase(start, lowercase: "file:") ? .file : nil
        }
        guard let scheme else { return nil }
        self = scheme
    }
}

/// The path that a `file:` URL names (RFC 8089), read strictly from its bytes.
///
/// Query and fragment name nothing in a file system; this leaves them out, as Foundation does. It refuses what cannot
/// be a path on this machine: another host; a `%2F`, which no name can hold and which decoding would turn into another
/// path; a NUL, where the system would end the path; bytes that are not UTF-8.
package enum FilePath {
    package enum Flaw: Error, Hashable, Sendable {
        /// The URL names another machine.
        case host
        /// The path is not absolute, or missing.
        case relative
        /// No two hexadecimal digits follow a `%`, or they stand for a byte that no name can hold.
        case encoding
    }

    /// - Parameter bytes: The whole URL.
    package static func path(_ bytes: UnsafeRawBufferPointer) throws(Flaw) -> String {
        let slash = UInt8(ascii: "/")
        let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.count
        var rest = bytes[min("file:".utf8.count, end)..<end]
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != slash }
            guard host.isEmpty || host.map(ASCII.folded) == Array("localhost".utf8) else { throw .host }
            rest = rest.dropFirst(host.count)
        }
        guard rest.first == slash else { throw .relative }
        guard !hidesSeparators(rest), let decoded = PercentEncoding.decode(UnsafeRawBufferPointer(rebasing: rest)),
            !decoded.contains(0), let path = String(validating: decoded, as: UTF8.self)
        else { throw .encoding }
        return path
    }

    private static func hidesSeparators(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        bytes.indices.contains { index in
            bytes[index...].prefix(3).map(ASCII.folded) == Array("%2f".utf8)
        }
    }
}

/// Media types of files, by the extensions of their names.
///
/// A short list of what programs load; all other files are a sequence of bytes. It does not use the system's list,
/// which differs from machine to machine and may be missing.
package enum FileMediaTypes {
    package static let unknown = "application/octet-stream"

    /// - Parameter path: Ends with the name of the file.
    package static func type(ofFileAt path: String) -> String {
        let bytes = Array(path.utf8)
        let name = bytes[(bytes.lastIndex(of: UInt8(ascii: "/")) ?? -1).advanced(by: 1)...]
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return unknown }
        let ending = name[dot...].dropFirst().map(ASCII.folded)
        return types[String(decoding: ending, as: UTF8.self)] ?? unknown
    }

    private static let types: [String: String] = [
        "aac": "audio/aac", "avif": "image/avif", "bmp": "image/bmp", "bz2": "application/x-bzip2",
        "css": "text/css", "csv": "text/csv", "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic",
        "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon", "ics": "text/calendar",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "log": "text/plain", "m4a": "audio/mp4", "md": "text/markdown", "mjs": "text/javascript",
        "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "oga": "audio/ogg", "ogg": "audio/ogg",
        "ogv": "video/ogg", "opus": "audio/opus", "otf": "font/otf", "pdf": "application/pdf",
        "plist": "application/x-plist",
        "png": "image/png", "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar",
        "text": "text/plain", "tif": "image/tiff", "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain",
        "wasm": "application/wasm", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xml": "application/xml", "xz": "application/x-xz",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}
