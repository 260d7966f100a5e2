package import AFWire
import Foundation

/// The validator that shows whether a resource is still the same.
package enum ResumeValidator: Hashable, Sendable {
    /// A strong entity tag, quotes included.
    case entityTag(String)
    /// A date that is as strong as an entity tag: the resource had not changed for a while.
    case lastModified(String)

    /// Longer validators are not kept.
    static let maximumLength = 1024

    package var fieldValue: String {
        switch self {
        case .entityTag(let value), .lastModified(let value): value
        }
    }

    /// Reads a ``fieldValue`` that was kept.
    package init?(fieldValue text: String) {
        if ResumeValidator.isStrong(text) {
            self = .entityTag(text)
        } else if ResumeValidator.isDate(text) {
            self = .lastModified(text)
        } else {
            return nil
        }
    }

    package init?(_ headers: HTTPHeaders) {
        if let tag = ResumeValidator.single("ETag", headers: headers), ResumeValidator.isStrong(tag) {
            self = .entityTag(tag)
        } else if let date = ResumeValidator.date(headers) {
            self = .lastModified(date)
        } else {
            return nil
        }
    }

    /// RFC 9110 §8.8.3: quoted and not weak. Only ASCII, since it has to be sent back byte for byte.
    package static func isStrong(_ tag: String) -> Bool {
        let bytes = Array(tag.utf8)
        guard bytes.count >= 2, bytes.count <= maximumLength, bytes.first == 0x22, bytes.last == 0x22 else {
            return false
        }
        return bytes.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) }
    }

    /// RFC 9110 §8.8.2.2: the date is strong if the response is at least a second younger. Otherwise the resource may
    /// have changed once more within that second.
    private static func date(_ headers: HTTPHeaders) -> String? {
        guard let text = single("Last-Modified", headers: headers),
            let modified = HTTPDate.seconds(text),
            let answered = single("Date", headers: headers).flatMap({ HTTPDate.seconds($0) }),
            answered > modified
        else { return nil }
        return text
    }

    static func isDate(_ text: String) -> Bool { HTTPDate.seconds(text) != nil }

    static func single(_ name: String, headers: HTTPHeaders) -> String? {
        let values = headers.values(name)
        return values.count == 1 ? values.first : nil
    }

    /// Whether a 206 is about the same resource. A 206 without the entity tag that it had to repeat is refused; a date
    /// need not be repeated (RFC 9110 §15.3.7).
    package func isRepeated(in headers: HTTPHeaders) -> Bool {
        switch self {
        case .entityTag(let tag): headers.values("ETag") == [tag]
        case .lastModified(let date): [[], [date]].contains(headers.values("Last-Modified"))
        }
    }
}
