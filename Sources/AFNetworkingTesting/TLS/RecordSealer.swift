internal import CAFOpenSSL

/// Encrypts records of TLS 1.2 and 1.3 as the server, for those that OpenSSL has no function to send.
struct RecordSealer {
    /// The secret the server's keys of TLS 1.3 are made from; none before it is established.
    var secret: [UInt8] = []
    /// How many records were written with these keys.
    var sequence: UInt64 = 0

    /// Takes the secret from a line of the key log: a label, the client's random number, the secret.
    mutating func noteSecret(_ line: String) {
        let words = line.split(separator: " ")
        guard words.count == 3, words[0] == "SERVER_TRAFFIC_SECRET_0" else { return }
        let digits = words[2].utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        secret = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        sequence = 0
    }

    /// One record; nil without a secret, or with a suite that is not known here.
    mutating func seal(_ bytes: [UInt8], type: UInt8, for ssl: OpaquePointer) -> [UInt8]? {
        let isOld = SSL_version(ssl) == TLS1_2_VERSION
        guard isOld || !secret.isEmpty else { return nil }
        let (secret, sequence) = (secret, sequence)
        let record = [UInt8](unsafeUninitializedCapacity: bytes.count + 64) { buffer, used in
            if isOld {
                used = caf_seal_old_record(
                    ssl,
                    sequence,
                    type,
                    bytes,
                    bytes.count,
                    buffer.baseAddress,
                    buffer.count
                )
                return
            }
            used = caf_seal_record(
                ssl,
                secret,
                secret.count,
                sequence,
                type,
                bytes,
                bytes.count,
                buffer.baseAddress,
                buffer.count
            )
        }
        self.sequence += 1
        return record.isEmpty ? nil : record
    }
}
