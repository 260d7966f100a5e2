import AFRequest
import Foundation

/// Gathers the parts of a form, and makes a body of them.
final class StreamingMultipartFormData: MultipartFormData {
    private var parts: [MultipartPart] = []
    private var packets = MultipartPackets()
    /// The first error.
    private var failure: NSError?

    /// Each pair of the parameters as a part.
    func append(_ parameters: [String: Any], in encoding: String.Encoding) throws {
        let fields = ParameterPairs(parameters)
        guard !fields.isCut else { throw RequestError.nestedTooDeep }
        for pair in fields.pairs {
            if let data = StreamingMultipartFormData.data(of: pair.value, in: encoding) {
                appendPart(withFormData: data, name: pair.field)
            }
        }
    }

    private static func data(of value: Any?, in encoding: String.Encoding) -> Data? {
        switch value {
        case nil: Data()
        case let data as Data: data
        case let data as NSData: Data(referencing: data)
        case let value?: ParameterText.of(value).data(using: encoding)
        }
    }

    /// The request with the form as its body; unchanged if there are no parts.
    func finish(_ request: URLRequest) throws -> URLRequest {
        if let failure { throw CarriedError.unpacked(failure) }
        guard !parts.isEmpty else { return request }
        let layout = MultipartLayout(parts: parts, boundary: MultipartLayout.randomBoundary(), packets: packets)
        guard let length = layout.length else { throw MultipartError.tooLong }
        var request = request
        request.httpBodyStream = MultipartBodyStream(layout: layout, length: length)
        request.setValue("multipart/form-data; boundary=\(layout.boundary)", forHTTPHeaderField: "Content-Type")
        request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        if let rate = packets.bytesPerSecond { request.maximumBytesSentPerSecond = rate }
        return request
    }

    // MARK: - Parts

    func appendPart(withFileURL fileURL: URL, name: String) throws {
        let type = FileTypes.mimeType(ofExtension: fileURL.pathExtension)
        try appendPart(withFileURL: fileURL, name: name, fileName: fileURL.lastPathComponent, mimeType: type)
    }

    func appendPart(withFileURL fileURL: URL, name: String, fileName: String, mimeType: String) throws {
        let file = try MultipartSourceFile(fileURL)
        let head = try MultipartHead(name: name, fileName: fileName, mimeType: mimeType)
        parts.append(MultipartPart(head: head, source: .file(file), length: file.size))
    }

    func appendPart(
        withInputStream inputStream: InputStream?,
        name: String,
        fileName: String,
        length: Int64,
        mimeType: String
    ) {
        guard length >= 0 else { return note(MultipartError.negativeLength(of: name)) }
        let source = inputStream.map { MultipartPart.Source.stream(HandedStream($0)) }
        append(source ?? .data(Data()), length: length) {
            try MultipartHead(name: name, fileName: fileName, mimeType: mimeType)
        }
    }

    func appendPart(withFileData data: Data, name: String, fileName: String, mimeType: String) {
        append(.data(data), length: Int64(data.count)) {
            try MultipartHead(name: name, fileName: fileName, mimeType: mimeType)
        }
    }

    func appendPart(withFormData data: Data, name: String) {
        append(.data(data), length: Int64(data.count)) { try MultipartHead(name: name) }
    }

    func appendPart(withHeaders headers: [String: String]?, body: Data) {
        append(.data(body), length: Int64(body.count)) { try MultipartHead(headers ?? [:]) }
    }

    private func append(_ source: MultipartPart.Source, length: Int64, head: () throws -> MultipartHead) {
        do {
            parts.append(MultipartPart(head: try head(), source: source, length: length))
        } catch {
            note(CarriedError.make(error))
        }
    }

    private func note(_ error: NSError) {
        failure = failure ?? error
    }

    func throttleBandwidth(withPacketSize numberOfBytes: UInt, delay: TimeInterval) {
        packets = MultipartPackets(size: Int(clamping: numberOfBytes), delay: delay)
    }
}
