import AFNetworking
import Foundation

/// The body of a multipart form. Files are read while it is sent, and never held in memory whole.
struct FormBody {
    /// Each request sends a copy.
    private let stream: MultipartBodyStream

    /// Throws if a file cannot be read, before anything is sent.
    init(_ parts: [FormPart]) throws(TransferFailure) {
        var failure: TransferFailure?
        let made = Result {
            try HTTPRequestSerializer().multipartFormRequest(
                withMethod: "POST",
                urlString: "http://form.invalid/",
                parameters: nil
            ) { form in
                for part in parts where failure == nil {
                    do throws(TransferFailure) { try Self.append(part, to: form) } catch { failure = error }
                }
            }
        }
        if let failure { throw failure }
        guard let stream = try? made.get().httpBodyStream as? MultipartBodyStream else {
            throw TransferFailure(.badArgument, "the form cannot be sent: \(Self.reason(made))")
        }
        self.stream = stream
    }

    private static func reason(_ result: Result<URLRequest, any Error>) -> String {
        if case .failure(let error) = result { error.localizedDescription } else { "it has no parts" }
    }

    /// The value of Content-Type.
    var contentType: String { "multipart/form-data; boundary=\(stream.boundary)" }

    var contentLength: Int64 { stream.contentLength }

    /// A new stream of the form, for one request.
    var newStream: InputStream? { stream.copy(with: nil) as? InputStream }

    // MARK: Parts

    private static func append(_ part: FormPart, to form: any MultipartFormData) throws(TransferFailure) {
        // A name of the command line is sent as it is, with its folders.
        let hasFolders = part.fileName?.contains("/") == true
        if !part.headers.isEmpty || hasFolders { return try append(withHeaders: part, to: form) }
        switch part.content {
        case .value(let value): append(value, as: part, to: form)
        case .valueOfFile(let path): append(try contents(of: path, for: part), as: part, to: form)
        case .file(let path): try append(fileAt: path, as: part, to: form)
        }
    }

    /// Appends a part with fields of its own, which is held in memory.
    private static func append(
        withHeaders part: FormPart,
        to form: any MultipartFormData
    ) throws(TransferFailure) {
        var headers: [String: String] = [:]
        for field in part.headers {
            let pieces = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            headers[String(pieces[0])] = pieces[1].trimmingCharacters(in: .whitespaces)
        }
        var disposition = "form-data; name=\"\(quotable(part.name))\""
        var type = part.type
        let body: Data
        switch part.content {
        case .value(let value):
            body = value
            if let fileName = part.fileName { disposition += "; filename=\"\(quotable(fileName))\"" }
        case .valueOfFile(let path): body = try contents(of: path, for: part)
        case .file(let path):
            body = try contents(of: path, for: part)
            let fileName = fileName(of: part, at: path)
            disposition += "; filename=\"\(quotable(fileName))\""
            type = type ?? Self.type(of: fileName, at: path)
        }
        headers["Content-Disposition"] = disposition
        if let type, headers["Content-Type"] == nil { headers["Content-Type"] = type }
        form.appendPart(withHeaders: headers, body: body)
    }

    private static func fileName(of part: FormPart, at path: String) -> String {
        part.fileName ?? (path == "-" ? "-" : (path as NSString).lastPathComponent)
    }

    private static func append(_ value: Data, as part: FormPart, to form: any MultipartFormData) {
        if let fileName = part.fileName {
            form.appendPart(
                withFileData: value,
                name: part.name,
                fileName: fileName,
                mimeType: part.type ?? type(of: fileName)
            )
        } else if let type = part.type {
            let disposition = "form-data; name=\"\(quotable(part.name))\""
            form.appendPart(withHeaders: ["Content-Disposition": disposition, "Content-Type": type], body: value)
        } else {
            form.appendPart(withFormData: value, name: part.name)
        }
    }

    private static func append(
        fileAt path: String,
        as part: FormPart,
        to form: any MultipartFormData
    ) throws(TransferFailure) {
        let fileName = fileName(of: part, at: path)
        let type = part.type ?? type(of: fileName, at: path)
        // A pipe has no known length.
        guard path != "-", try isRegularFile(path, of: part) else {
            let contents = try contents(of: path, for: part)
            return form.appendPart(withFileData: contents, name: part.name, fileName: fileName, mimeType: type)
        }
        do {
            let url = URL(fileURLWithPath: path)
            try form.appendPart(withFileURL: url, name: part.name, fileName: fileName, mimeType: type)
        } catch {
            throw TransferFailure(
                .cannotRead,
                "the form's part \"\(part.name)\": \(path): \(error.localizedDescription)"
            )
        }
    }

    private static func isRegularFile(_ path: String, of part: FormPart) throws(TransferFailure) -> Bool {
        do throws(SystemFailure) {
            return try Descriptor.isRegularFile(path)
        } catch {
            throw unreadable(path, of: part, because: error)
        }
    }

    private static func contents(of path: String, for part: FormPart) throws(TransferFailure) -> Data {
        do throws(SystemFailure) {
            return try Descriptor.input(path)
        } catch {
            throw unreadable(path, of: part, because: error)
        }
    }

    private static func unreadable(_ path: String, of part: FormPart, because failure: SystemFailure) -> TransferFailure
    {
        TransferFailure(.cannotRead, "the form's part \"\(part.name)\": \(path): \(failure.text)")
    }

    private static func type(of fileName: String) -> String {
        FileTypes.mimeType(ofExtension: (fileName as NSString).pathExtension)
    }

    /// The type by the name that is sent, or else by that of the file.
    private static func type(of fileName: String, at path: String) -> String {
        let type = type(of: fileName)
        return type == FileTypes.mimeType(ofExtension: "") ? Self.type(of: path) : type
    }

    /// Percent-encodes quotes and control characters, as browsers do.
    private static func quotable(_ name: String) -> String {
        let bytes = name.utf8.flatMap { byte -> [UInt8] in
            let isHarmless = byte != UInt8(ascii: "\"") && byte >= 0x20 && byte != 0x7F
            return isHarmless ? [byte] : Array(String(format: "%%%02X", Int(byte)).utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
