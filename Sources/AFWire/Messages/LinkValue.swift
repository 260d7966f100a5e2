import AFBase

/// One link of a field `Link`, read as RFC 8288 §B says: tolerantly, since a link is a hint.
package struct LinkValue: Sendable, Equatable {
    /// Links of one response that are read. To resolve each takes as long as the URL of the response is.
    package static let maximumCount = 256

    package let target: [UInt8]
    /// What the target is to the resource, in lower case.
    package let relations: [String]
    /// Whose link it is, if it is not that of the resource that was asked for.
    package let anchor: [UInt8]?
    /// The other parameters by name, in lower case; of each the first. One in the form of RFC 8187 (`title*`) stands
    /// under its plain name, which it takes precedence over.
    package let attributes: [String: String]

    /// The links of all lines, in order.
    package static func list(in headers: HTTPHeaders) -> [LinkValue] {
        var links: [LinkValue] = []
        headers.forEachValue(of: "Link") { value in
            var scanner = FieldScanner(value)
            while links.count < maximumCount, let link = LinkValue(&scanner) { links.append(link) }
        }
        return links
    }

    /// Nil at the end, and where there is no link: what follows is passed over, too.
    private init?(_ scanner: inout FieldScanner) {
        scanner.skipListSeparators()
        guard scanner.take(UInt8(ascii: "<")) else { return nil }
        target = Array(scanner.text(before: UInt8(ascii: ">")))
        guard scanner.take(UInt8(ascii: ">")) else { return nil }
        var (plain, extended): ([String: String], [String: String]) = ([:], [:])
        scanner.skipBlanks()
        while scanner.take(UInt8(ascii: ";")) {
            let (name, value) = Self.parameter(&scanner)
            if name.hasSuffix("*") {
                let name = String(name.dropLast())
                if extended[name] == nil { extended[name] = ContentDisposition.extendedValue(value) }
            } else if plain[name] == nil {
                plain[name] = HTTPText.decode(value)
            }
            scanner.skipBlanks()
        }
        scanner.skip(to: UInt8(ascii: ","))
        relations = (plain.removeValue(forKey: "rel") ?? "").split { $0 == " " || $0 == "\t" }.map { ASCII.lowered($0) }
        anchor = plain.removeValue(forKey: "anchor").map { Array($0.utf8) }
        attributes = plain.merging(extended) { $1 }
    }

    /// A name with or without a value. A quoted string without its end reaches to that of the field.
    private static func parameter(_ scanner: inout FieldScanner) -> (name: String, value: [UInt8]) {
        scanner.skipBlanks()
        let name = scanner.text(beforeAny: Array("=;, \t".utf8))
        scanner.skipBlanks()
        var value: [UInt8] = []
        if scanner.take(UInt8(ascii: "=")) {
            scanner.skipBlanks()
            if let quoted = scanner.quotedString() {
                value = quoted
            } else if scanner.take(UInt8(ascii: "\"")) {
                value = Array(scanner.text(beforeAny: []))
            } else {
                value = Array(ByteScanning.trimmingOWS(scanner.text(beforeAny: Array(";,".utf8))))
            }
        }
        return (String(decoding: name.map(ASCII.folded), as: UTF8.self), value)
    }
}
