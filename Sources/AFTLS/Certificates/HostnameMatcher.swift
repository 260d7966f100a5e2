import AFBase
internal import CAFOpenSSL

/// Decides whether a certificate is for a peer, by its typed alternative names only.
///
/// - The common name is never looked at, also if there is no alternative name.
/// - An IP address matches only an entry of that type with the same bytes.
/// - A wildcard is a whole left-most label, stands for exactly one label, and has at least two labels after it.
/// - Letters are compared as ASCII without regard to case; an entry with anything
///   but the bytes of a host name matches nothing.
///
/// One pass over at most 10 000 entries.
public enum HostnameMatcher {
    /// Whether the certificate is for this peer.
    public static func matches(_ certificate: Certificate, _ name: PeerName) -> Bool {
        withExtendedLifetime(certificate) { matches(handle: certificate.handle, name: name) }
    }

    /// The same for an `X509`.
    package static func matches(handle: OpaquePointer, name: PeerName) -> Bool {
        switch name {
        case .dns(let text):
            // Any caller can make this value, also one that looks like an address.
            var text = text
            return text.withUTF8 { reference in
                guard isReference(reference) else { return false }
                return contains(handle, type: GEN_DNS) { matches(pattern: $0, reference: reference) }
            }
        case .ip(let bytes):
            guard bytes.count == 4 || bytes.count == 16 else { return false }
            return contains(handle, type: GEN_IPADD) { $0.elementsEqual(bytes) }
        }
    }

    /// Whether one DNS entry of a certificate covers a host name.
    package static func matches(pattern: [UInt8], host: String) -> Bool {
        var host = host
        return host.withUTF8 { reference in
            isReference(reference) && pattern.withUnsafeBufferPointer { matches(pattern: $0, reference: reference) }
        }
    }

    private static func contains(
        _ certificate: OpaquePointer,
        type: Int32,
        where matches: (UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        var isFound = false
        AlternativeNames.visit(certificate) { name in
            guard name.type == type else { return true }
            isFound = matches(UnsafeBufferPointer(start: name.bytes, count: name.count))
            return !isFound
        }
        return isFound
    }

    // A name of numbers only is an address to some readers.
    private static func isReference(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        DNSName.isValid(name) && !DNSName.isNumeric(name)
    }

    private static func matches(pattern: UnsafeBufferPointer<UInt8>, reference: UnsafeBufferPointer<UInt8>) -> Bool {
        // The reference is a host name, and so is what is equal to one, or to all of one but its first label.
        guard pattern.starts(with: "*.".utf8) else { return isEqual(pattern[...], right: reference[...]) }
        let parent = pattern[2...]
        guard parent.contains(UInt8(ascii: ".")), let dot = reference.firstIndex(of: UInt8(ascii: ".")) else {
            return false
        }
        return isEqual(parent, right: reference[(dot + 1)...])
    }

    private static func isEqual(
        _ left: Slice<UnsafeBufferPointer<UInt8>>,
        right: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { ASCII.folded($0) == ASCII.folded($1) }
    }
}
