import AFBase
import AFTLS
import AFWire

/// The rules of the public suffix list in one block of bytes and a table of offsets in it: ten thousand strings would
/// take a megabyte.
package struct PublicSuffixTable: Sendable {
    /// Each rule: its length, its kind, its name.
    private var names: [UInt8] = []
    /// The offset of each rule plus one; 0 is an empty slot. Open addressing; the number of slots is a power of two.
    private var places: [UInt32]
    private(set) var count = 0

    /// Reads the text format of the list: one rule per line, comments behind `//`.
    package init(_ text: UnsafeRawBufferPointer) {
        let lines = text.lazy.filter { $0 == 0x0A }.count + 1
        places = Array(repeating: 0, count: 1 << (Int.bitWidth - (2 * lines).leadingZeroBitCount))
        var start = 0
        while start < text.count {
            let end = ByteScanning.firstIndex(of: 0x0A, in: text, from: start) ?? text.count
            add(line: UnsafeRawBufferPointer(rebasing: text[start..<end]))
            start = end + 1
        }
    }

    func rule(for name: UnsafeRawBufferPointer) -> PublicSuffixRule? {
        let place = Int(places[slot(of: name)])
        return place == 0 ? nil : PublicSuffixRule(rawValue: names[place])
    }

    // MARK: - Reading

    private mutating func add(line: UnsafeRawBufferPointer) {
        var text = line.prefix { $0 > 0x20 }
        guard !text.isEmpty, !text.starts(with: "//".utf8) else { return }
        var kind = PublicSuffixRule.plain
        if text.first == UInt8(ascii: "!") {
            kind = .exception
            text = text.dropFirst()
        } else if text.starts(with: "*.".utf8) {
            kind = .wildcard
            text = text.dropFirst(2)
        }
        guard let name = PublicSuffixTable.canonical(text), (1...253).contains(name.count) else { return }
        name.withUnsafeBytes { insert($0, kind: kind) }
    }

    private mutating func insert(_ name: UnsafeRawBufferPointer, kind: PublicSuffixRule) {
        let slot = slot(of: name)
        if places[slot] > 0 {
            names[Int(places[slot])] |= kind.rawValue
            return
        }
        places[slot] = UInt32(names.count + 1)
        names.append(UInt8(name.count))
        names.append(kind.rawValue)
        names += name
        count += 1
    }

    /// The name in the spelling of hosts: lower case, labels beyond ASCII in punycode.
    private static func canonical(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let bytes = text.map(ASCII.folded)
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes }
        var labels: [[UInt8]] = []
        for label in bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
            if label.allSatisfy({ $0 < 0x80 }) {
                labels.append(Array(label))
                continue
            }
            guard let scalars = String(validating: label, as: UTF8.self)?.unicodeScalars.map(\.value),
                let encoded = Punycode.encode(scalars)
            else { return nil }
            labels.append(Array("xn--".utf8) + encoded)
        }
        return Array(labels.joined(separator: CollectionOfOne(UInt8(ascii: "."))))
    }

    // MARK: - Finding

    /// The slot of the rule, or the one where it would be.
    private func slot(of name: UnsafeRawBufferPointer) -> Int {
        let mask = places.count - 1
        var slot = Int(truncatingIfNeeded: PublicSuffixTable.hash(name)) & mask
        while places[slot] > 0, !isRule(at: Int(places[slot]) - 1, name: name) { slot = (slot + 1) & mask }
        return slot
    }

    private func isRule(at place: Int, name: UnsafeRawBufferPointer) -> Bool {
        Int(names[place]) == name.count && names[(place + 2)..<(place + 2 + name.count)].elementsEqual(name)
    }

    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt64 {
        let sum = FNV1a.of(name)
        return sum ^ sum >> 29
    }
}

/// What a public suffix list says about one name.
struct PublicSuffixRule: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    /// The name is a suffix.
    static let plain = PublicSuffixRule(rawValue: 1)
    /// Every name right below it is a suffix.
    static let wildcard = PublicSuffixRule(rawValue: 2)
    /// The name is no suffix, although a wildcard says so.
    static let exception = PublicSuffixRule(rawValue: 4)
}
