import Foundation

/// The certificates a policy was given, and what was made of them.
struct PinnedCertificates: Sendable {
    /// As they were given; nil if they never were.
    let blobs: Set<Data>?
    /// Those that can be read, in an order that depends on nothing but their content.
    let certificates: [Certificate]
    /// What is wrong with the first one that cannot be read.
    let problem: String?
    let keys: Set<PublicKeyPin>
    let bytes: Set<Certificate>
    /// Made once, so that its store is made once.
    let anchors: TrustAnchors

    init(_ blobs: Set<Data>?) {
        self.blobs = blobs
        let sorted = (blobs ?? []).sorted { $0.lexicographicallyPrecedes($1) }
        var certificates: [Certificate] = []
        var problem: String?
        for (index, blob) in sorted.enumerated() {
            do {
                certificates.append(try Certificate(der: blob))
            } catch {
                let place = "pinned certificate \(index + 1) of \(sorted.count), \(blob.count) bytes, cannot be read"
                problem = problem ?? "\(place): \(error)"
            }
        }
        self.certificates = certificates
        self.problem = problem
        keys = Set(certificates.map(\.pin))
        bytes = Set(certificates)
        anchors = .certificates(certificates)
    }

    var isEmpty: Bool { blobs?.isEmpty ?? true }
}
