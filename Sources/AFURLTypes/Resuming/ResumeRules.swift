import AFBase
package import AFWire
import Foundation

/// The point from which a download can be resumed.
package struct ResumePoint: Hashable, Sendable {
    package var offset: Int64
    /// The length of the whole, if it was announced.
    package var total: Int64?
    package var validator: ResumeValidator
}

/// The meaning of the response to a request for the rest.
package enum ResumeAnswer: Hashable, Sendable {
    /// The body is the rest, up to the byte before `end`.
    case rest(end: Int64, total: Int64?)
    /// There is no rest: the part is the whole.
    case complete
    /// The body is the whole.
    case whole
    /// Another response, which says nothing about the part.
    case other
    /// A response that breaks the rules, or is about another resource: ask for the whole.
    case unusable

    /// Whether it has the part count as the server's.
    package var continuesPart: Bool {
        switch self {
        case .rest, .complete: true
        case .whole, .other, .unusable: false
        }
    }

    /// RFC 9110 §14.2 to §15.5.17. In doubt the response is unusable.
    package static func judge(_ status: Int, headers: HTTPHeaders, length: Int64, at point: ResumePoint)
        -> ResumeAnswer
    {
        judge(status, headers: headers, length: length, at: point.offset, of: point.total, validator: point.validator)
    }

    /// - Parameters:
    ///   - offset: Where the transfer goes on.
    ///   - known: The length of the whole, if it was announced.
    ///   - validator: Nil if the resource cannot be identified; then only the offsets must match.
    package static func judge(
        _ status: Int,
        headers: HTTPHeaders,
        length: Int64,
        at offset: Int64,
        of known: Int64?,
        validator: ResumeValidator?
    ) -> ResumeAnswer {
        switch status {
        case 206:
            guard validator?.isRepeated(in: headers) ?? true else { return .unusable }
            return judgePart(headers, length: length, at: offset, of: known)
        case 416:
            guard validator.map({ isRepeatedForSure($0, headers: headers) }) ?? true else { return .unusable }
            return judgeRefusal(headers, at: offset, of: known)
        case 200..<300: return .whole
        default: return .other
        }
    }

    /// The meaning of a response to a request for some of the bytes. A server may send fewer (RFC 9110 §14.2).
    ///
    /// - Parameters:
    ///   - range: The bytes that the request asks for.
    ///   - total: The length of the whole.
    package static func judge(
        _ response: HTTPURLResponse,
        for range: Range<Int64>,
        of total: Int64,
        validator: ResumeValidator
    ) -> ResumeAnswer {
        let (headers, length) = (response.headers, response.expectedContentLength)
        switch response.statusCode {
        case 206:
            guard validator.isRepeated(in: headers), let span = span(headers, length: length, at: range.lowerBound),
                span.upperBound <= range.upperBound, span.total == nil || span.total == total
            else { return .unusable }
            return .rest(end: span.upperBound, total: total)
        case 416: return .unusable
        case 200..<300: return .whole
        default: return .other
        }
    }

    private static func judgePart(
        _ headers: HTTPHeaders,
        length: Int64,
        at offset: Int64,
        of known: Int64?
    ) -> ResumeAnswer {
        guard let (end, total) = span(headers, length: length, at: offset) else { return .unusable }
        // The request asked for all bytes from the offset on. A server that sends fewer may have another resource.
        if let total, end != total { return .unusable }
        if let known, end != known || known != total ?? known { return .unusable }
        return .rest(end: end, total: total ?? known)
    }

    /// Where the body of a 206 ends, which must begin at the offset, and how long the whole is.
    private static func span(
        _ headers: HTTPHeaders,
        length: Int64,
        at offset: Int64
    ) -> (upperBound: Int64, total: Int64?)? {
        guard !headers.hasCodedContent, !headers.isMultipart,
            let range = ResumeValidator.single("Content-Range", headers: headers).flatMap({ ContentRange($0) }),
            let span = range.span, span.lowerBound == offset,
            length < 0 || length == span.upperBound - span.lowerBound + 1
        else { return nil }
        return (span.upperBound + 1, range.total)
    }

    private static func judgeRefusal(_ headers: HTTPHeaders, at offset: Int64, of known: Int64?) -> ResumeAnswer {
        guard let range = ResumeValidator.single("Content-Range", headers: headers).flatMap({ ContentRange($0) }),
            range.span == nil, range.total == offset, known ?? offset == offset
        else { return .unusable }
        return .complete
    }

    private static func isRepeatedForSure(_ validator: ResumeValidator, headers: HTTPHeaders) -> Bool {
        switch validator {
        case .entityTag(let tag): headers.values("ETag") == [tag]
        case .lastModified(let date): headers.values("Last-Modified") == [date]
        }
    }
}

extension ResumePoint {
    /// The point from which this response can be resumed if it ends early: it must be the whole of a resource, without
    /// content coding, that a validator identifies.
    package init?(_ response: HTTPURLResponse, to request: URLRequest) {
        let headers = response.headers
        guard response.statusCode == 200, request.httpMethod == "GET", request.httpBody?.isEmpty ?? true,
            request.value(forHTTPHeaderField: "Range") == nil,
            !headers.hasCodedContent, !headers.refusesRanges,
            let validator = ResumeValidator(headers)
        else { return nil }
        let length = response.expectedContentLength
        self.init(offset: 0, total: length >= 0 ? length : nil, validator: validator)
    }
}

extension HTTPHeaders {
    /// Offsets of coded content are not offsets of the file.
    package var hasCodedContent: Bool {
        values("Content-Encoding").contains { value in
            value.withUTF8Bytes { bytes in
                var isCoded = false
                ByteScanning.forEachListElement(of: bytes) { coding in
                    isCoded =
                        isCoded || !coding.isEmpty && !ByteScanning.equalsIgnoringCase(coding, lowercase: "identity")
                }
                return isCoded
            }
        }
    }

    fileprivate var isMultipart: Bool { mediaType?.hasPrefix("multipart/") == true }

    fileprivate var refusesRanges: Bool {
        values("Accept-Ranges").contains { ASCII.lowered($0) == "none" }
    }
}

extension HTTPURLResponse {
    /// The response that a request for the whole would get, made from one that says that no byte is missing.
    package func presented(asWholeOf length: Int64) -> HTTPURLResponse? {
        guard let url else { return nil }
        var fields = ["Content-Length": "\(length)"]
        for name in ["ETag", "Last-Modified", "Date"] { fields[name] = value(forHTTPHeaderField: name) }
        return HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
    }
}

extension HTTPURLResponse {
    /// The bytes that its body has, and their total if that is known (RFC 9110 §14.4); nil if the response does not
    /// say.
    package var part: (bytes: ClosedRange<Int64>, total: Int64?)? {
        guard let text = value(forHTTPHeaderField: "Content-Range"), let range = ContentRange(text),
            let bytes = range.span
        else { return nil }
        return (bytes, range.total)
    }

    /// Whether offsets count other bytes than those of the decoded body.
    package var hasCodedContent: Bool { headers.hasCodedContent }
}
