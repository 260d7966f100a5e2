extension InputStream {
    /// The rest, read in pieces.
    func readAll(pieces: Int = 4096) -> Data {
        var all = Data()
        var buffer = [UInt8](repeating: 0, count: pieces)
        while true {
            let count = read(&buffer, maxLength: pieces)
            guard count > 0 else { return all }
            all.append(contentsOf: buffer[..<count])
        }
    }

    /// Opens, reads, closes.
    func readOnce(pieces: Int = 4096) -> Data {
        open()
        defer { close() }
        return readAll(pieces: pieces)
    }
}

extension AFNetworking.URLRequest {
    var form: MultipartBodyStream? { httpBodyStream as? MultipartBodyStream }
    var formCopy: MultipartBodyStream? { form?.copy() as? MultipartBodyStream }
    /// The form as it is sent, with `B` in place of the boundary.
    var formText: String {
        guard let stream = formCopy else { return "" }
        return String(decoding: stream.readOnce(), as: UTF8.self).replacingOccurrences(of: stream.boundary, with: "B")
    }
}

extension HTTPRequestSerializer {
    func form(
        _ parameters: [String: Any]? = nil,
        to url: String = "http://api.test/",
        _ build: ((any MultipartFormData) throws -> Void)? = nil
    ) throws -> AFNetworking.URLRequest {
        try multipartFormRequest(
            withMethod: "POST",
            urlString: url,
            parameters: parameters,
            constructingBodyWith: build
        )
    }

    func formFailure(_ build: @escaping (any MultipartFormData) throws -> Void) -> NSError? {
        do {
            _ = try form(nil, build)
            return nil
        } catch {
            return error as NSError
        }
    }
}

/// A stream with some bytes that then ends, fails, or lies about how much it read.
final class FormSource: InputStream {
    struct Broken: Error, Equatable {}

    enum End: Sendable {
        case end, failure, boast, refusal
    }

    private let content: Data
    private let end: End
    private var given = 0
    private var status = Stream.Status.notOpen
    private(set) var closings = 0

    init(_ content: Data, _ end: End = .end) {
        self.content = content
        self.end = end
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? { status == .error ? Broken() : nil }
    override var hasBytesAvailable: Bool { true }

    override func open() {
        if case .refusal = end { status = .error } else { status = .open }
    }

    override func close() {
        status = .closed
        closings += 1
    }

    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
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
