internal import CAFOpenSSL
internal import CAFTestServer

/// Encrypts the server's records of TLS 1.2 and 1.3 that OpenSSL has no function to send.
struct RecordSealer {
    /// The secret of the server's TLS 1.3 keys; empty before it is known.
    var secret: [UInt8] = []
    /// How many records were encrypted with these keys.
    var sequence: UInt64 = 0

    /// Takes the secret from a line of the key log: a label, the client's random number, the secret.
    mutating func noteSecret(_ line: String) {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "SERVER_TRAFFIC_SECRET_0" else { return }
        let digits = words[2].utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        secret = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        sequence = 0
    }

    /// One record; nil without a secret, or with an unsupported cipher suite.
    mutating func seal(_ bytes: [UInt8], type: UInt8, for ssl: OpaquePointer) -> [UInt8]? {
        let isOld = SSL_version(ssl) == TLS1_2_VERSION
        guard isOld || !secret.isEmpty else { return nil }
        let (secret, sequence) = (secret, sequence)
        let record = [UInt8](unsafeUninitializedCapacity: bytes.count + 64) { buffer, used in
            let (start, room) = (buffer.baseAddress, buffer.count)
            used =
                isOld
                ? caf_seal_old_record(ssl, sequence, type, bytes, bytes.count, start, room)
                : caf_seal_record(ssl, secret, secret.count, sequence, type, bytes, bytes.count, start, room)
        }
        self.sequence += 1
        return record.isEmpty ? nil : record
    }
}
