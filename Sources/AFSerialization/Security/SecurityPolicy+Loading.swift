public import Foundation

extension SecurityPolicy {
    /// A policy that pins the `.cer` files beside the program, in DER.
    ///
    /// With a file that cannot be read, and without any file, it refuses every server.
    public convenience init(pinningMode: SSLPinningMode) {
        self.init(pinningMode: pinningMode, withPinnedCertificates: Self.certificates(in: .main))
    }

    /// The contents of all `.cer` files in a bundle, without those in its folders.
    ///
    /// A file that cannot be read becomes an empty entry, which makes a policy refuse every
    /// server. `init(pinningMode:certificatesIn:)` throws in its place.
    public static func certificates(in bundle: Bundle) -> Set<Data> {
        let folder = URL(fileURLWithPath: bundle.resourcePath ?? bundle.bundlePath)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let files = names.filter { $0.hasSuffix(".cer") }.map { folder.appendingPathComponent($0) }
        return Set(files.map { (try? contents(of: $0)) ?? Data() })
    }

    /// Far above any certificate: whatever is larger is something else, and must not fill the memory.
    private static let largestFile = 16 << 20

    private static func contents(of file: URL) throws -> Data {
        let size = try file.resolvingSymlinksInPath().resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        guard size <= largestFile else { throw CocoaError(.fileReadTooLarge) }
        return try Data(contentsOf: file)
    }

    // MARK: - Throwing

    /// Reads a policy in JSON, such as a file that a program ships or fetches, with dates like `2037-06-01T00:00:00Z`.
    ///
    /// The text names the mode, `SSLPinningMode`. What else it does not say is decided safely, and a value that cannot be
    /// read and a name that means nothing are errors. `afnet lint` reads a file in the same way.
    public convenience init(json data: Data) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom(Self.date)
        self.init(try decoder.decode(SecurityRules.self, from: data))
    }

    @Sendable private static func date(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let date = try? Date(text, strategy: .iso8601) else {
            let advice = "\"\(text)\" is no date: write 2027-06-01T00:00:00Z"
            throw DecodingError.dataCorruptedError(in: container, debugDescription: advice)
        }
        return date
    }

    /// A policy that pins the certificates of a PEM text, or one in DER.
    public convenience init(
        pinningMode: SSLPinningMode,
        pem: some Collection<UInt8>
    ) throws(CertificateError) {
        self.init(pinningMode: pinningMode, certificates: try Certificate.certificates(in: pem))
    }

    /// A policy that pins the certificates of a file, PEM or one in DER.
    ///
    /// Throws if anything in it is no certificate.
    public convenience init(
        pinningMode: SSLPinningMode,
        certificatesAtPath path: String
    ) throws(CertificateError) {
        self.init(pinningMode: pinningMode, certificates: try Certificate.certificates(atPath: path))
    }

    /// A policy that pins the certificates of the files in a folder that end in `.cer`, `.der`, `.pem` or `.crt`.
    ///
    /// Throws if there is no such file, or if anything in one of them is no certificate.
    public convenience init(
        pinningMode: SSLPinningMode,
        certificatesInFolder path: String
    ) throws(CertificateError) {
        self.init(pinningMode: pinningMode, certificates: try Certificate.certificates(inFolder: path))
    }

    /// A policy that pins the certificates of the files in a bundle that end in `.cer`, `.der`, `.pem` or `.crt`.
    ///
    /// Throws if there is no such file, or if anything in one of them is no certificate.
    public convenience init(
        pinningMode: SSLPinningMode,
        certificatesIn bundle: Bundle
    ) throws(CertificateError) {
        try self.init(pinningMode: pinningMode, certificatesInFolder: bundle.resourcePath ?? bundle.bundlePath)
    }
}
