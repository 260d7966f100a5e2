import AFBase

/// The bytes of a cookie file. `Docs/Internals/Cookies.md` describes them.
///
/// Every record, and the whole file, has its length in front and its checksum behind. So no byte of a value can become
/// another cookie, and an incomplete file is not read.
enum CookieFile {
    /// Why a file is not read.
    enum Flaw: Error, Hashable, Sendable {
        case notACookieFile
        case otherVersion(UInt8)
        case damaged
    }

    static let magic = Array("AFcookie".utf8)
    static let version: UInt8 = 1
    static let maximumLength = 16 << 20
    private static let headLength = magic.count + 1 + 4

    fileprivate enum Tag: UInt8 {
        case name = 1
        case value, domain, path, flags, sameSite, expires, created, lastUse, version, comment, commentURL, ports
    }

    fileprivate enum Flag {
        static let hostOnly: UInt8 = 1
        static let secure: UInt8 = 2
        static let httpOnly: UInt8 = 4
    }

    // MARK: - Writing

    /// The bytes of the cookies that outlive their store, in order of creation. If there are too many for a file, those
    /// that were not used for longest are left out.
    static func encode(_ cookies: [StoredCookie]) -> [UInt8] {
        var room = maximumLength - headLength - 8
        var records: [(order: UInt64, bytes: [UInt8])] = []
        for cookie in cookies.sorted(by: { $0.lastUse > $1.lastUse }) where cookie.content.expires != nil {
            let bytes = record(cookie)
            guard bytes.count <= room else { break }
            room -= bytes.count
            records.append((cookie.order, bytes))
        }
        records.sort { $0.order < $1.order }
        var bytes = magic + [version] + little(UInt64(records.count), 4)
        for record in records { bytes += record.bytes }
        return bytes + little(FNV1a.of(bytes), 8)
    }

    private static func record(_ cookie: StoredCookie) -> [UInt8] {
        let content = cookie.content
        var bytes: [UInt8] = []
        func add(_ tag: Tag, _ value: some Collection<UInt8>) {
            bytes.append(tag.rawValue)
            bytes += little(UInt64(value.count), 4)
            bytes += value
        }
        add(.name, content.name)
        add(.value, content.value)
        add(.domain, content.domain.utf8)
        add(.path, content.path)
        let flags =
            (content.isHostOnly ? Flag.hostOnly : 0) | (content.isSecure ? Flag.secure : 0)
            | (content.isHTTPOnly ? Flag.httpOnly : 0)
        add(.flags, [flags])
        add(.sameSite, [content.sameSite.rawValue])
        if let end = content.expires { add(.expires, little(UInt64(bitPattern: end), 8)) }
        add(.created, little(UInt64(bitPattern: cookie.created), 8))
        add(.lastUse, little(cookie.lastUse, 8))
        if let details = content.details {
            add(.version, [details.version])
            if let comment = details.comment { add(.comment, comment.utf8) }
            if let url = details.commentURL { add(.commentURL, url.utf8) }
            if !details.ports.isEmpty { add(.ports, details.ports.flatMap { little(UInt64($0), 2) }) }
        }
        return little(UInt64(bytes.count), 4) + bytes + little(FNV1a.of(bytes), 8)
    }

    /// The bytes of the number, the least significant first.
    private static func little(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    // MARK: - Reading

    /// All cookies, in order of creation, or none.
    static func decode(_ bytes: [UInt8]) throws(Flaw) -> [StoredCookie] {
        guard bytes.count >= magic.count + 1, bytes.starts(with: magic) else { throw .notACookieFile }
        guard bytes[magic.count] == version else { throw .otherVersion(bytes[magic.count]) }
        guard bytes.count >= headLength + 8, bytes.count <= maximumLength,
            FNV1a.of(bytes.dropLast(8)) == number(bytes.suffix(8))
        else { throw .damaged }
        var rest = bytes[headLength..<(bytes.count - 8)]
        var cookies: [StoredCookie] = []
        for order in 0..<number(bytes[(magic.count + 1)..<headLength]) {
            guard let body = nextRecord(&rest), let cookie = StoredCookie(record: body, order: order + 1) else {
                throw .damaged
            }
            cookies.append(cookie)
        }
        guard rest.isEmpty else { throw .damaged }
        return cookies
    }

    private static func nextRecord(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard rest.count >= 12 else { return nil }
        let length = Int(number(rest.prefix(4)))
        guard rest.count - 12 >= length else { return nil }
        let body = rest.dropFirst(4).prefix(length)
        guard FNV1a.of(body) == number(rest.dropFirst(4 + length).prefix(8)) else { return nil }
        rest = rest.dropFirst(12 + length)
        return body
    }

    fileprivate static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The entries of a record. Each may occur once.
    fileprivate struct Entries {
        private var entries: [Tag: ArraySlice<UInt8>] = [:]

        init?(_ record: ArraySlice<UInt8>) {
            var rest = record
            while !rest.isEmpty {
                guard rest.count >= 5, let tag = rest.first.flatMap({ Tag(rawValue: $0) }) else { return nil }
                let length = Int(CookieFile.number(rest.dropFirst().prefix(4)))
                guard rest.count - 5 >= length else { return nil }
                let value = rest.dropFirst(5).prefix(length)
                guard entries.updateValue(value, forKey: tag) == nil else { return nil }
                rest = rest.dropFirst(5 + length)
            }
        }

        func bytes(_ tag: Tag) -> [UInt8]? { entries[tag].map(Array.init) }
        func text(_ tag: Tag) -> String? { entries[tag].flatMap { String(validating: $0, as: UTF8.self) } }
        func byte(_ tag: Tag) -> UInt8? { entries[tag].flatMap { $0.count == 1 ? $0.first : nil } }
        func number(_ tag: Tag) -> UInt64? { entries[tag].flatMap { $0.count == 8 ? CookieFile.number($0) : nil } }
        func signed(_ tag: Tag) -> Int64? { number(tag).map { Int64(bitPattern: $0) } }

        var details: CookieContent.Details? {
            guard let version = byte(.version) else { return nil }
            let ports = bytes(.ports) ?? []
            let numbers = stride(from: 0, to: ports.count - 1, by: 2).map {
                UInt16(ports[$0]) | UInt16(ports[$0 + 1]) << 8
            }
            return .init(version: version, comment: text(.comment), commentURL: text(.commentURL), ports: numbers)
        }
    }
}

extension StoredCookie {
    /// Nil for a cookie that could not have been stored.
    fileprivate init?(record: ArraySlice<UInt8>, order: UInt64) {
        guard let entries = CookieFile.Entries(record), let name = entries.bytes(.name),
            let value = entries.bytes(.value), let domain = entries.text(.domain), let path = entries.bytes(.path),
            let flags = entries.byte(.flags), flags < 8,
            let sameSite = entries.byte(.sameSite).flatMap({ CookieContent.SameSite(rawValue: $0) }),
            let expires = entries.signed(.expires), let created = entries.signed(.created),
            let lastUse = entries.number(.lastUse), lastUse < 1 << 62,
            hostOfCookie(domain)?.text == domain, path.first == UInt8(ascii: "/")
        else { return nil }
        let content = CookieContent(
            name: name,
            value: value,
            domain: domain,
            isHostOnly: flags & CookieFile.Flag.hostOnly != 0,
            path: path,
            expires: expires,
            isSecure: flags & CookieFile.Flag.secure != 0,
            isHTTPOnly: flags & CookieFile.Flag.httpOnly != 0,
            sameSite: sameSite,
            details: entries.details
        )
        guard content.isHarmless else { return nil }
        self.init(content: content, created: created, order: order, lastUse: lastUse)
    }
}
