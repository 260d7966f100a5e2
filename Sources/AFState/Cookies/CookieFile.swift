import AFBase
package import AFLoop
import AFWire

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
        var bytes = magic + [version] + little(UInt64(records.count), count: 4)
        for record in records { bytes += record.bytes }
        return bytes + little(FNV1a.of(bytes), count: 8)
    }

    private static func record(_ cookie: StoredCookie) -> [UInt8] {
        let content = cookie.content
        var bytes: [UInt8] = []
        func add(_ tag: Tag, value: some Collection<UInt8>) {
            bytes.append(tag.rawValue)
            bytes += little(UInt64(value.count), count: 4)
            bytes += value
        }
        add(.name, value: content.name)
        add(.value, value: content.value)
        add(.domain, value: content.domain.utf8)
        add(.path, value: content.path)
        let flags =
            (content.isHostOnly ? Flag.hostOnly : 0) | (content.isSecure ? Flag.secure : 0)
            | (content.isHTTPOnly ? Flag.httpOnly : 0)
        add(.flags, value: [flags])
        add(.sameSite, value: [content.sameSite.rawValue])
        if let end = content.expires { add(.expires, value: little(UInt64(bitPattern: end), count: 8)) }
        add(.created, value: little(UInt64(bitPattern: cookie.created), count: 8))
        add(.lastUse, value: little(cookie.lastUse, count: 8))
        if let details = content.details {
            add(.version, value: [details.version])
            if let comment = details.comment { add(.comment, value: comment.utf8) }
            if let url = details.commentURL { add(.commentURL, value: url.utf8) }
            if !details.ports.isEmpty { add(.ports, value: details.ports.flatMap { little(UInt64($0), count: 2) }) }
        }
        return little(UInt64(bytes.count), count: 4) + bytes + little(FNV1a.of(bytes), count: 8)
    }

    /// The bytes of the number, the least significant first.
    private static func little(_ number: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    // MARK: - Reading

    /// All cookies that can be used, in order of creation; or none, if the file is damaged.
    static func decode(_ bytes: [UInt8]) throws(Flaw) -> [StoredCookie] {
        guard bytes.count >= magic.count + 1, bytes.starts(with: magic) else { throw .notACookieFile }
        guard bytes[magic.count] == version else { throw .otherVersion(bytes[magic.count]) }
        guard bytes.count >= headLength + 8, bytes.count <= maximumLength,
            FNV1a.of(bytes.dropLast(8)) == number(bytes.suffix(8))
        else { throw .damaged }
        var rest = bytes[headLength..<(bytes.count - 8)]
        var cookies: [StoredCookie] = []
        for order in 0..<number(bytes[(magic.count + 1)..<headLength]) {
            guard let body = nextRecord(&rest) else { throw .damaged }
            // One that cannot be used does not cost the others.
            if let cookie = StoredCookie(record: body, order: order + 1) { cookies.append(cookie) }
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
        guard content.isStorable else { return nil }
        self.init(content: content, created: created, order: order, lastUse: lastUse)
    }
}

/// An error of the file of an ``/AFURLTypes/HTTPCookieStorage``.
///
/// The cookies in memory are not affected, and loading goes on.
public struct CookieFileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    @nonexhaustive
    public enum Kind: Hashable, Sendable {
        /// The URL names no file.
        case notAFileURL
        /// The file or its folder could not be opened.
        case cannotOpen
        /// It is a folder, a FIFO, a device, or a symbolic link.
        case notRegular
        /// Other users may read or change it, or another user owns it.
        case notPrivate
        /// It is longer than any cookie file.
        case tooLong
        /// The disk failed.
        case cannotRead
        /// The file holds something else. It is left as it is, and nothing is written.
        case notACookieFile
        /// An unknown version of this library has written the file. It is left as it is.
        case otherVersion
        /// The file is incomplete or was changed. The store replaces it when it next stores cookies.
        case damaged
        /// The new file could not be written, for lack of space, permission or a working disk. The store tries again
        /// with the next change.
        case cannotWrite
    }

    /// The kind of the error.
    public let kind: Kind
    /// The path of the file.
    public let path: String
    package let cause: SystemCallError?

    init(_ kind: Kind, at path: String, cause: SystemCallError? = nil) {
        self.kind = kind
        self.path = path
        self.cause = cause
    }

    /// Whether the store may replace the file all the same.
    var allowsWriting: Bool { kind == .damaged || kind == .cannotWrite }

    /// The operation and the file, what happened, and what to do.
    public var description: String {
        let doing = kind == .cannotWrite ? "writing" : "reading"
        let system = cause.map { " (\($0.description))" } ?? ""
        return "\(doing) the cookie file \(PeerText.escaped(path.utf8)) failed: \(explanation)\(system)"
    }

    private var explanation: String {
        switch kind {
        case .notAFileURL: "the URL names no file; make it with URL(fileURLWithPath:)"
        case .cannotOpen: "it or its folder cannot be opened; the folder must exist and be yours to enter and write"
        case .notRegular: "it is a link, a folder or a device; name a regular file, or one that does not exist yet"
        case .notPrivate: "others can get at it; make it yours alone with chmod 600 if you trust what is in it"
        case .tooLong: "it is longer than 16 MiB, so no cookie file"
        case .cannotRead: "the disk did not give it out"
        case .notACookieFile: "something else is in it, which is left alone; choose another place"
        case .otherVersion: "a newer version of this library has written it; it is left alone"
        case .damaged: "it is not whole; it is begun anew with the next cookie"
        case .cannotWrite: "it holds what it held before, or all that is new; make room or rights for it"
        }
    }
}
