import AFBase
import AFLoop
package import Foundation

/// The content of resume data: enough to ask for the rest of a download, and to identify the part that is stored here.
/// `Docs/Internals/Downloads.md` describes the bytes.
///
/// Resume data may come from any source. It names a part by a random number and never by a path, and its content is
/// checked against the part and by the server. It says under which judgement the part came: the rest must come under the
/// same.
package struct ResumeRecord: Hashable, Sendable {
    package struct Field: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package var url: String
    package var fields: [Field]
    package var terms: RequestTerms
    package var point: ResumePoint
    /// The name of the part, without its kind.
    package var token: String
    /// When the part was last written, in nanoseconds since 1970.
    package var modified: Int64
    /// The digest of the last 64 KiB of the part.
    package var digest: UInt64
    /// Under which judgement the part came (`TrustScope.digest`).
    package var scope: [UInt8]

    static let magic = Array("AFresume".utf8)
    package static let version: UInt8 = 3
    static let maximumLength = 256 << 10
    private static let maximumFields = 256

    private enum Tag: UInt8 {
        case url = 1
        case fieldName, fieldValue, terms, entityTag, lastModified, offset, total, token, modified, digest, scope
    }

    // MARK: - Writing

    package func encoded() -> Data {
        var bytes = ResumeRecord.magic + [ResumeRecord.version]
        func add(_ tag: Tag, value: some Collection<UInt8>) {
            bytes.append(tag.rawValue)
            bytes += ResumeRecord.bytes(of: UInt64(value.count), count: 4)
            bytes += value
        }
        func add(_ tag: Tag, number: UInt64) { add(tag, value: ResumeRecord.bytes(of: number, count: 8)) }

        add(.url, value: url.utf8)
        for field in fields {
            add(.fieldName, value: field.name.utf8)
            add(.fieldValue, value: field.value.utf8)
        }
        add(.terms, value: terms.encoded)
        switch point.validator {
        case .entityTag(let tag): add(.entityTag, value: tag.utf8)
        case .lastModified(let date): add(.lastModified, value: date.utf8)
        }
        add(.offset, number: UInt64(point.offset))
        if let total = point.total { add(.total, number: UInt64(total)) }
        add(.token, value: token.utf8)
        add(.modified, number: UInt64(bitPattern: modified))
        add(.digest, number: digest)
        add(.scope, value: scope)
        return Data(bytes + ResumeRecord.bytes(of: FNV1a.of(bytes), count: 8))
    }

    /// Nil if the data could not be read again.
    package func encodedIfSane() -> Data? {
        let data = encoded()
        return data.count <= ResumeRecord.maximumLength && fields.count <= ResumeRecord.maximumFields ? data : nil
    }

    /// The bytes of the number, the least significant first.
    private static func bytes(of number: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    // MARK: - Reading

    package init(_ data: Data) throws(ResumeFlaw) {
        guard data.count <= ResumeRecord.maximumLength else { throw .tooLong(limit: ResumeRecord.maximumLength) }
        let bytes = [UInt8](data)
        let head = ResumeRecord.magic.count + 1
        guard bytes.count >= head + 8, bytes.starts(with: ResumeRecord.magic) else { throw .notResumeData }
        let version = bytes[head - 1]
        guard version == ResumeRecord.version else { throw .otherVersion(version, read: ResumeRecord.version) }
        let body = bytes[..<(bytes.count - 8)]
        guard FNV1a.of(body) == ResumeRecord.number(bytes[(bytes.count - 8)...]) else { throw .damaged }
        guard let record = ResumeRecord(entries: body[head...]) else { throw .damaged }
        self = record
    }

    private init?(entries bytes: ArraySlice<UInt8>) {
        var single: [Tag: ArraySlice<UInt8>] = [:]
        var names: [String] = []
        var values: [String] = []
        var rest = bytes
        while let (tag, value) = ResumeRecord.nextEntry(&rest) {
            switch tag {
            case .fieldName:
                guard let text = String(validating: value, as: UTF8.self), names.count == values.count else {
                    return nil
                }
                names.append(text)
            case .fieldValue:
                guard let text = String(validating: value, as: UTF8.self), names.count == values.count + 1 else {
                    return nil
                }
                values.append(text)
            default:
                guard single.updateValue(value, forKey: tag) == nil else { return nil }
            }
        }
        guard rest.isEmpty, names.count == values.count, names.count <= ResumeRecord.maximumFields else { return nil }
        self.init(entries: single, fields: zip(names, values).map { Field(name: $0, value: $1) })
    }

    private init?(entries: [Tag: ArraySlice<UInt8>], fields: [Field]) {
        func text(_ tag: Tag) -> String? { entries[tag].flatMap { String(validating: $0, as: UTF8.self) } }
        func number(_ tag: Tag) -> UInt64? { entries[tag].flatMap { $0.count == 8 ? ResumeRecord.number($0) : nil } }

        guard let url = text(.url), let token = text(.token), FileToken.isToken(token),
            let offset = number(.offset).flatMap({ Int64(exactly: $0) }), offset > 0,
            let modified = number(.modified), let digest = number(.digest),
            let scope = entries[.scope].map({ Array($0) }), !scope.isEmpty,
            let terms = entries[.terms].flatMap({ RequestTerms(Data($0)) }),
            let validator = ResumeRecord.validator(text(.entityTag), date: text(.lastModified))
        else { return nil }
        let total = number(.total).flatMap { Int64(exactly: $0) }
        guard (entries[.total] == nil) == (total == nil), total ?? offset >= offset else { return nil }
        self.url = url
        self.fields = fields
        self.terms = terms
        self.token = token
        self.modified = Int64(bitPattern: modified)
        self.digest = digest
        self.scope = scope
        point = ResumePoint(offset: offset, total: total, validator: validator)
    }

    private static func validator(_ tag: String?, date: String?) -> ResumeValidator? {
        switch (tag, date) {
        case (let tag?, nil): ResumeValidator.isStrong(tag) ? .entityTag(tag) : nil
        case (nil, let date?): ResumeValidator.isDate(date) ? .lastModified(date) : nil
        default: nil
        }
    }

    private static func nextEntry(_ rest: inout ArraySlice<UInt8>) -> (Tag, ArraySlice<UInt8>)? {
        guard rest.count >= 5, let tag = rest.first.flatMap({ Tag(rawValue: $0) }) else { return nil }
        let length = Int(number(rest.dropFirst().prefix(4)))
        guard rest.count - 5 >= length else { return nil }
        let value = rest.dropFirst(5).prefix(length)
        rest = rest.dropFirst(5 + length)
        return (tag, value)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

// MARK: - Requests

extension ResumeRecord {

    /// The record for a part of the response to `request`.
    ///
    /// - Parameter scope: The digest of the scope under which the part came.
    package init(request: URLRequest, at point: ResumePoint, part: KeptPart, under scope: [UInt8]) {
        url = request.url?.absoluteString ?? ""
        fields = request.headerFields.map { Field(name: $0.name, value: $0.value) }
        terms = RequestTerms(of: request)
        self.point = point
        self.point.offset = part.length
        token = part.token
        modified = part.modified
        digest = part.digest
        self.scope = scope
    }

    /// The request for the whole.
    package var request: URLRequest? {
        guard let url = URL(string: url) else { return nil }
        var request = URLRequest(url: url)
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        terms.apply(to: &request)
        return request
    }

    /// The request for the rest of it.
    package func restRequest(of whole: URLRequest) -> URLRequest {
        var request = whole
        request.setValue("bytes=\(point.offset)-", forHTTPHeaderField: "Range")
        request.setValue(point.validator.fieldValue, forHTTPHeaderField: "If-Range")
        // RFC 9110 §14.2: offsets count bytes of the content as it is coded.
        request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
        return request
    }
}

/// The part of a download that is kept to be resumed.
package struct KeptPart: Hashable, Sendable {
    let token: String
    let length: Int64
    let modified: Int64
    let digest: UInt64

    package init(token: String, length: Int64, modified: Int64, digest: UInt64) {
        self.token = token
        self.length = length
        self.modified = modified
        self.digest = digest
    }
}
