/// Makes the ``ServerEvaluator/fingerprint`` of an evaluator out of what it decides by.
///
/// ```swift
/// var fingerprint = TrustFingerprint("com.example.LabEvaluator")
/// fingerprint.add(allowedHost.utf8)
/// fingerprint.add([isStrict ? 1 : 0])
/// return fingerprint.bytes
/// ```
///
/// Each field is counted with its length, so that two lists of fields give equal bytes only if they are equal.
public struct TrustFingerprint: Sendable {
    private var fields: [UInt8] = []

    /// Begins with a name that no other kind of evaluator has.
    public init(_ kind: String) {
        add(kind.utf8)
    }

    /// Adds one field.
    public mutating func add(_ field: some Collection<UInt8>) {
        withUnsafeBytes(of: UInt64(field.count).littleEndian) { fields.append(contentsOf: $0) }
        // Without asking the runtime how the collection is iterated.
        if field.withContiguousStorageIfAvailable({ fields.append(contentsOf: $0) }) == nil {
            fields.append(contentsOf: field)
        }
    }

    /// The SHA-256 of the fields, 32 bytes.
    public var bytes: [UInt8] { SHA256Digest.of(fields) }
}
