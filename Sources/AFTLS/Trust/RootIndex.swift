internal import CAFOpenSSL

/// The certificates of some PEM texts, each of which is read when a chain may lead to it.
///
/// Reading one takes OpenSSL a tenth of a millisecond, most of it for the key. A system has 140,
/// a program meets a few of them. Found in constant time by the key of their subject.
struct RootIndex: Sendable {
    private struct Root: Sendable {
        let der: [UInt8]
        /// It also says for which uses it is trusted.
        let namesUses: Bool
    }

    /// How many there are. One whose subject can be read counts, whatever else is in it.
    private(set) var count = 0
    /// Those that cannot be found by name, because their subject is not where DER has it.
    private(set) var nameless: [Certificate] = []
    /// By a key of their subject, in their order.
    private var named: [UInt64: [Root]] = [:]
    private var hasReadable = false

    /// Whether not one of them can be read.
    var isEmpty: Bool { !hasReadable }

    /// Adds the certificates of a text, each once.
    ///
    /// One bad certificate of a system's must not lose the others.
    mutating func add(_ text: [UInt8]) {
        for block in PEMBlock.split(text) {
            guard let content = block.content(), let root = Self.root(content) else { continue }
            var key: UInt64 = 0
            let isNamed = caf_subject_key(root.der, root.der.count, &key) == 1
            if isNamed ? addNamed(root, key: key) : addNameless(root) { count += 1 }
        }
    }

    private mutating func addNamed(_ root: Root, key: UInt64) -> Bool {
        guard !named[key, default: []].contains(where: { $0.der == root.der }) else { return false }
        named[key, default: []].append(root)
        if !hasReadable { hasReadable = Self.read(root) != nil }
        return true
    }

    private mutating func addNameless(_ root: Root) -> Bool {
        guard let certificate = Self.read(root), !nameless.contains(certificate) else { return false }
        nameless.append(certificate)
        hasReadable = true
        return true
    }

    /// The keys of all subjects.
    var keys: Set<UInt64> { Set(named.keys) }

    func contains(_ key: UInt64) -> Bool { named[key] != nil }

    /// Those that can be read of the ones with this key.
    func certificates(_ key: UInt64) -> [Certificate] {
        named[key, default: []].compactMap(Self.read)
    }

    private static func root(_ content: PEMBlock.Content) -> Root? {
        switch content.label {
        case "CERTIFICATE", "X509 CERTIFICATE": Root(der: content.der, namesUses: false)
        case "TRUSTED CERTIFICATE": Root(der: content.der, namesUses: true)
        default: nil
        }
    }

    private static func read(_ root: Root) -> Certificate? {
        let parse = root.namesUses ? caf_x509_parse_with_uses : caf_x509_parse_leniently
        return parse(root.der, root.der.count).map { Certificate(owning: $0) }
    }
}
