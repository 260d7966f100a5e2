import AFURLSession
import Foundation
import Glibc

/// The body to send. Files and streams are never held in memory whole.
struct Payload {
    private enum Source {
        case none
        case memory(Data)
        case file(URL)
        /// A path without a length, such as a pipe.
        case stream(String)
        case standardInput
        case form(FormBody)
        /// The rest of a file.
        case rest(UploadPart)
    }

    private let source: Source
    /// Whether the command line asks for chunks.
    private let isChunked: Bool
    /// The field `Content-Range` of an upload.
    let contentRange: String?

    /// Keeps in memory: fields of the command line, standard input that several URLs may get, and a body that is sent
    /// again, by --keep-post or by a stream of events that connects again.
    init(_ arguments: Arguments, isSentAgain: Bool = false) throws(TransferFailure) {
        isChunked = arguments.fields.contains { $0.asksForChunks } && !arguments.isQuery
        let part = try UploadPart(arguments)
        contentRange = part?.contentRange
        if let part, part.offset > 0 {
            source = .rest(part)
            return
        }
        if case .form(let parts) = arguments.body {
            source = .form(try FormBody(parts))
            return
        }
        do throws(SystemFailure) {
            source = try Self.source(of: arguments, isKept: isSentAgain || !arguments.redirects.keepsPost.isEmpty)
        } catch {
            throw TransferFailure(.cannotRead, "the body to send cannot be read: \(error.text)")
        }
    }

    /// The fields for the query: those of `--url-query`, and with `--get` those of the body; nil if there are none.
    static func query(of arguments: Arguments, and payload: Payload) throws(TransferFailure) -> Data? {
        let fields: Data
        do throws(SystemFailure) {
            fields = try data(of: arguments.query, joinedBy: "&")
        } catch {
            throw TransferFailure(.cannotRead, "--url-query: \(error.text)")
        }
        // curl takes the fields of --get alone.
        return arguments.isQuery ? payload.whole : arguments.query.isEmpty ? nil : fields
    }

    private static func source(of arguments: Arguments, isKept: Bool) throws(SystemFailure) -> Source {
        switch arguments.body {
        case nil, .form: return .none
        case .text(let text): return .memory(Data(text.utf8))
        case .pieces(let pieces):
            guard let path = Self.onlyFile(pieces), !isKept, !arguments.isQuery else {
                return .memory(try data(of: pieces, joinedBy: "&"))
            }
            return try source(at: path)
        case .json(let pieces): return .memory(try data(of: pieces, joinedBy: ""))
        case .file(let path) where isKept || path == "-", .upload(let path) where isKept:
            return .memory(try Descriptor.input(path))
        case .upload("-"): return .standardInput
        case .file(let path), .upload(let path): return try source(at: path)
        }
    }

    private static func source(at path: String) throws(SystemFailure) -> Source {
        // Throws if the file cannot be read, before anything is sent.
        guard try Descriptor.isRegularFile(path) else { return .stream(path) }
        let file = try Descriptor.opening(path, flags: O_RDONLY)
        try file.close()
        return .file(URL(fileURLWithPath: path))
    }

    /// The path if the body is exactly one file, which need not be held in memory.
    private static func onlyFile(_ pieces: [BodyPiece]) -> String? {
        guard pieces.count == 1, case .file(let path, .binary) = pieces[0], path != "-" else { return nil }
        return path
    }

    private static func data(of pieces: [BodyPiece], joinedBy separator: String) throws(SystemFailure) -> Data {
        var data = Data()
        for (index, piece) in pieces.enumerated() {
            if index > 0 { data += Data(separator.utf8) }
            switch piece {
            case .text(let text): data += Data(text.utf8)
            case .file(let path, let reading): data += BodyPiece.bytes(of: try Descriptor.input(path), reading: reading)
            }
        }
        return data
    }

    /// Whether the body can be sent again.
    var isRepeatable: Bool {
        switch source {
        case .stream, .standardInput: false
        case .none, .memory, .file, .form, .rest: true
        }
    }

    var data: Data? {
        isChunked ? nil : whole
    }

    /// The body in memory, also where the command line asks for chunks.
    var whole: Data? { if case .memory(let data) = source { data } else { nil } }

    /// The media type of a multipart form, with its boundary.
    var contentType: String? { if case .form(let form) = source { form.contentType } else { nil } }

    /// A new stream of the body, if it can be sent again as a stream.
    var newStream: InputStream? {
        switch source {
        case .form(let form): form.newStream
        case .rest(let part): part.stream
        case .memory(let data) where isChunked: InputStream(data: data)
        case .file(let url) where isChunked: InputStream(url: url)
        case .none, .memory, .file, .stream, .standardInput: nil
        }
    }

    @MainActor func task(for request: URLRequest, in session: URLSession) -> URLSessionDataTask {
        switch source {
        case .memory where isChunked, .file where isChunked:
            var request = request
            request.httpBodyStream = newStream
            request.setValue(nil, forHTTPHeaderField: "Content-Length")
            return session.dataTask(with: request)
        case .none, .memory: return session.dataTask(with: request)
        case .file(let url): return session.uploadTask(with: request, fromFile: url)
        case .form(let form):
            return task(for: request, stream: form.newStream, ofLength: form.contentLength, in: session)
        case .rest(let part): return task(for: request, stream: part.stream, ofLength: part.length, in: session)
        case .stream(let path): return task(for: request, stream: InputStream(fileAtPath: path), in: session)
        case .standardInput: return task(for: request, stream: DescriptorStream(.standardInput), in: session)
        }
    }

    @MainActor private func task(
        for request: URLRequest,
        stream: InputStream?,
        ofLength length: some FixedWidthInteger,
        in session: URLSession
    ) -> URLSessionDataTask {
        var request = request
        // A chunked body has no Content-Length.
        if request.value(forHTTPHeaderField: "Transfer-Encoding") == nil {
            request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
        }
        return task(for: request, stream: stream, in: session)
    }

    @MainActor private func task(
        for request: URLRequest,
        stream: InputStream?,
        in session: URLSession
    ) -> URLSessionDataTask {
        var request = request
        request.httpBodyStream = stream
        return session.dataTask(with: request)
    }
}
