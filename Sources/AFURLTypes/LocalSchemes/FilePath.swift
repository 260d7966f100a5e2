import AFBase
import AFWire

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
