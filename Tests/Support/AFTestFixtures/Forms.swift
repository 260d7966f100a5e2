package import AFSerialization
package import AFURLTypes
package import Foundation

extension InputStream {
    /// The rest, read in pieces.
    package func readAll(pieces: Int = 4096) -> Data {
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: pieces)
        while true {
            let count = read(&buffer, maxLength: pieces)
            guard count > 0 else { return all }
            all.append(contentsOf: buffer[..<count])
        }
    }

    /// Opens, reads, closes.
    package func readOnce(pieces: Int = 4096) -> Data {
        open()
        defer { close() }
        return readAll(pieces: pieces)
    }
}

extension URLRequest {
    /// A copy of the form that the request sends.
    package var formCopy: InputStream? { (httpBodyStream as? any NSCopying)?.copy(with: nil) as? InputStream }
}

extension HTTPRequestSerializer {
    package func form(
        _ parameters: [String: Any]? = nil,
        to url: String = "http://api.test/",
        _ build: ((any MultipartFormData) throws -> Void)? = nil
    ) throws -> URLRequest {
        try multipartFormRequest(
            withMethod: "POST",
            urlString: url,
            parameters: parameters,
            constructingBodyWith: build
        )
    }
}

/// A stream with some bytes that then ends, fails, or lies about how much it read.
package final class FormSource: InputStream {
    package struct Broken: Error, Equatable {}

    package enum End: Sendable {
        case end, failure, boast, refusal
    }

    private let content: Data
    private let end: End
    private var given = 0
    private var status = Stream.Status.notOpen
    package private(set) var closings = 0

    package init(_ content: Data, _ end: End = .end) {
        self.content = content
        self.end = end
        super.init(data: Data())
    }

    package override var streamStatus: Stream.Status { status }
    package override var streamError: (any Error)? { status == .error ? Broken() : nil }
    package override var hasBytesAvailable: Bool { true }

    package override func open() {
        if case .refusal = end { status = .error } else { status = .open }
    }

    package override func close() {
        status = .closed
        closings += 1
    }

    package override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        let count = min(len, content.count - given, 7)
        if count > 0 {
            content.copyBytes(to: buffer, from: given..<given + count)
            given += count
            return count
        }
        switch end {
        case .end, .refusal: return 0
        case .boast: return len + 1
        case .failure:
            status = .error
            return -1
        }
    }
}
