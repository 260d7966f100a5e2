package import AFWire

/// The names under which other parties register names, so that no server may set a cookie for all names below one:
/// `com`, `co.uk`, `github.io` (https://publicsuffix.org).
///
/// A name of one label is always a public suffix. Constants only: a newer list is another object. A name is looked up
/// with each name above it, at most two searches in the list for each label.
package final class PublicSuffixes: Sendable {
    private enum Rules: Sendable {
        /// Read when a name is looked up: most programs never get a cookie.
        case builtIn
        case table(PublicSuffixTable)
        case graph(PublicSuffixGraph)
    }

    private let rules: Rules
    /// Whether the usual categories below every country are suffixes, where no list names them.
    private let guessesCategories: Bool

    package init(_ table: PublicSuffixTable) {
        rules = .table(table)
        guessesCategories = false
    }

    init(_ graph: PublicSuffixGraph) {
        rules = .graph(graph)
        guessesCategories = false
    }

    /// The rules that are built in.
    init() {
        rules = .builtIn
        guessesCategories = true
    }

    /// - Parameter name: In canonical spelling: lower case, punycode, no dot at either end.
    func isPublicSuffix(_ name: String) -> Bool { name.withUTF8Bytes { isPublicSuffix($0) } }

    /// The registered name: one label more than a suffix. Nil for a suffix.
    func registrableDomain(of name: String) -> String? {
        name.withUTF8Bytes { bytes in
            if isPublicSuffix(bytes) { return nil }
            var start = 0
            while let dot = ByteScanning.firstIndex(of: UInt8(ascii: "."), in: bytes, from: start) {
                let parent = UnsafeRawBufferPointer(rebasing: bytes[(dot + 1)...])
                if isPublicSuffix(parent) { break }
                start = dot + 1
            }
            return String(decoding: bytes[start...], as: UTF8.self)
        }
    }

    /// The site of a host: two hosts are of one site if these are equal. Each address is a site of its own.
    package func site(of host: Endpoint.Host) -> String {
        host.kind == .name ? registrableDomain(of: host.text) ?? host.text : host.text
    }

    private func isPublicSuffix(_ name: UnsafeRawBufferPointer) -> Bool {
        guard let dot = ByteScanning.firstIndex(of: UInt8(ascii: "."), in: name) else { return true }
        if let rule = rule(for: name) {
            // The name above a wildcard is a suffix too, although the list's own algorithm does not say so: its
            // children belong to different parties.
            return !rule.contains(.exception)
        }
        let parent = UnsafeRawBufferPointer(rebasing: name[(dot + 1)...])
        if rule(for: parent)?.contains(.wildcard) == true { return true }
        return guessesCategories && CountryCategories.isCategory(name, dot: dot)
    }

    private func rule(for name: UnsafeRawBufferPointer) -> PublicSuffixRule? {
        switch rules {
        case .builtIn: PublicSuffixes.builtInTable.rule(for: name)
        case .table(let table): table.rule(for: name)
        case .graph(let graph): graph.rule(for: name)
        }
    }
}

/// The labels under which countries register names by category, for example `co` in `co.uk`.
enum CountryCategories {
    private static let labels: [StaticString] = [
        "ac", "ad", "biz", "co", "com", "coop", "ed", "edu", "firm", "gen", "go", "gob", "gouv", "gov", "govt", "gr",
        "gv", "id", "idv", "ind", "inf", "info", "int", "k12", "lg", "ltd", "me", "mil", "muni", "name", "ne", "net",
        "nhs", "nic", "nom", "or", "org", "plc", "police", "pro", "res", "sch", "school", "tm", "web",
    ]

    static func isCategory(_ name: UnsafeRawBufferPointer, dot: Int) -> Bool {
        guard name.count - dot == 3 else { return false }
        let label = UnsafeRawBufferPointer(rebasing: name[..<dot])
        return labels.contains { ByteScanning.equalsIgnoringCase(label, lowercase: $0) }
    }
}
