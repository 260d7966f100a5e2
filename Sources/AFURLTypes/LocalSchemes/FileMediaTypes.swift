import AFBase

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
