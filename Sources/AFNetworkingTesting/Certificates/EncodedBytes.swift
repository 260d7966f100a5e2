internal import CAFOpenSSL
import Foundation

/// The output of OpenSSL's functions that write DER or text, as arrays.
enum EncodedBytes {
    typealias Output = UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>

    /// Runs an `i2d_…` function twice: for the length, then for the bytes.
    static func of(_ encode: (Output?) -> Int32) -> [UInt8]? {
        let count = Int(encode(nil))
        guard count > 0 else { return nil }
        var written = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            var position = buffer.baseAddress
            written = Int(encode(&position))
            used = max(min(written, count), 0)
        }
        return written == count ? bytes : nil
    }

    /// Removes and returns everything in a memory BIO.
    static func drain(_ bio: OpaquePointer) -> [UInt8] {
        let count = Int(BIO_ctrl_pending(bio))
        // Empty arrays share one storage, and this initializer writes to it: thread sanitizer reports a race.
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            used = max(Int(BIO_read(bio, buffer.baseAddress, Int32(clamping: count))), 0)
        }
    }
}

/// PEM: a block of base64 between two lines (RFC 7468).
enum PEMText {
    static func block(_ label: String, of bytes: [UInt8]) -> String {
        // Foundation's line breaking adds an empty line after a full last line, which readers refuse.
        let text = Array(Data(bytes).base64EncodedString().utf8)
        let lines = stride(from: 0, to: text.count, by: 64).map { start in
            String(decoding: text[start..<min(start + 64, text.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----", ""]).joined(separator: "\n")
    }
}
