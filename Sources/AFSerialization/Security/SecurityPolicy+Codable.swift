import Foundation

extension SecurityPolicy {
    fileprivate enum CodingKeys: String, CodingKey, CaseIterable {
        case pinningMode = "SSLPinningMode"
        case pinnedCertificates
        case allowInvalidCertificates
        case validatesDomainName
        case hostRules
        case refusesHostsWithoutRule
    }

    /// Writes all settings but the report handler.
    public func encode(to encoder: any Encoder) throws {
        let rules = rules
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(rules.mode, forKey: .pinningMode)
        let blobs = rules.pinned.blobs?.sorted { $0.lexicographicallyPrecedes($1) }
        try container.encodeIfPresent(blobs, forKey: .pinnedCertificates)
        try container.encode(rules.allowsInvalidCertificates, forKey: .allowInvalidCertificates)
        try container.encode(rules.validatesName, forKey: .validatesDomainName)
        try container.encode(rules.hostRules, forKey: .hostRules)
        try container.encode(rules.refusesHostsWithoutRule, forKey: .refusesHostsWithoutRule)
    }
}

extension SecurityRules: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(withOnly: SecurityPolicy.CodingKeys.self)
        mode = try container.decode(SSLPinningMode.self, forKey: .pinningMode)
        pinned = PinnedCertificates(try container.decodeIfPresent(Set<Data>.self, forKey: .pinnedCertificates))
        if let problem = pinned.problem {
            throw DecodingError.dataCorruptedError(
                forKey: .pinnedCertificates,
                in: container,
                debugDescription: problem
            )
        }
        allowsInvalidCertificates =
            try container.decodeIfPresent(Bool.self, forKey: .allowInvalidCertificates) ?? false
        validatesName = try container.decodeIfPresent(Bool.self, forKey: .validatesDomainName) ?? true
        hostRules = try container.decodeIfPresent([HostRule].self, forKey: .hostRules) ?? []
        refusesHostsWithoutRule = try container.decodeIfPresent(Bool.self, forKey: .refusesHostsWithoutRule) ?? false
    }
}

extension Decoder {
    /// The container of an object that has no other names than these: a misspelt one would leave a host without pins.
    func container<Key: CodingKey & CaseIterable>(withOnly keys: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let names = try container(keyedBy: AnyName.self).allKeys.map(\.stringValue)
        if let other = names.filter({ Key(stringValue: $0) == nil }).min() {
            let known = Key.allCases.map(\.stringValue).joined(separator: ", ")
            let text = "the name \(other.debugDescription) means nothing here; there are \(known)"
            throw DecodingError.dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
        }
        return try container(keyedBy: keys)
    }
}

/// A name of an object, whatever it is.
private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) { nil }
}

// A policy that cannot be written or read must not become one that is less strict.
extension NSCoder {
    package func writePolicy(_ policy: SecurityPolicy, forKey key: String) {
        // An archive restores settings, not overrides: what is written for a subclass cannot be read.
        let data = policy.mayHaveOverrides ? Data() : (try? ArchivedJSON.data(policy)) ?? Data()
        encode(data as NSData, forKey: key)
    }

    /// Nil if there is none.
    package func readPolicy(forKey key: String) throws -> SecurityPolicy? {
        guard let data = decodeObject(of: NSData.self, forKey: key) as Data? else { return nil }
        return try ArchivedJSON.value(SecurityPolicy.self, in: data)
    }
}
