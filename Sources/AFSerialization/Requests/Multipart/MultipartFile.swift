import AFBase
import AFRequest
import Dispatch
import Foundation

/// Writes the body stream of a request to a file.
struct MultipartFile: Sendable {
    private static let pieceSize = 64 << 10

    /// Nil if there is none.
    private let stream: HandedStream?
    private let url: URL
    private let isCancelled = Lock(false)

    init(request: URLRequest, at url: URL) {
        let stream = request.httpBodyStream
        // The request can still be sent afterwards.
        let copy = (stream as? any NSCopying)?.copy(with: nil) as? InputStream
        self.stream = (copy ?? stream).map(HandedStream.init)
        self.url = url
    }

    /// Writes on a queue of its own: the stream may be the program's, and block.
    func write(_ done: @escaping @Sendable ((any Error)?) -> Void) {
        DispatchQueue(label: "AFNetworking.multipart").async {
            do {
                try copy()
                done(nil)
            } catch {
                done(error)
            }
        }
    }

    func write() async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                write { error in
                    if let error { continuation.resume(throwing: error) } else { continuation.resume() }
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }

    private func copy() throws {
        guard url.isFileURL else { throw MultipartError.notAFileURL }
        guard let stream = stream?.take() else { throw MultipartError.noStream }
        guard stream.streamStatus == .notOpen || stream.streamStatus == .open else { throw MultipartError.noStream }
        try makeFile()
        do {
            try copy(stream)
        } catch {
            // Half a form must not be taken for a whole one.
            try? FileManager.default.removeItem(at: url)
            throw error
        }
    }

    /// Makes a new file that only the user of this program can read: it may hold secrets.
    private func makeFile() throws {
        let files = FileManager.default
        if let former = try? files.attributesOfItem(atPath: url.path) {
            guard [.typeRegular, .typeSymbolicLink].contains(former[.type] as? FileAttributeType) else {
                throw MultipartError.notRegular(url.path)
            }
            try files.removeItem(at: url)
        }
        try Data().write(to: url, options: .withoutOverwriting)
        try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    private func copy(_ stream: InputStream) throws {
        let file = try FileHandle(forWritingTo: url)
        // Does nothing after the close below, which reports errors.
        defer { try? file.close() }
        if stream.streamStatus == .notOpen { stream.open() }
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: MultipartFile.pieceSize)
        while !isCancelled.withLock({ $0 }) {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else {
                if count < 0 || stream.streamStatus == .error { throw MultipartFile.failure(of: stream) }
                return try file.close()
            }
            try file.write(contentsOf: buffer[..<min(count, buffer.count)])
        }
        throw CancellationError()
    }

    /// On Linux Foundation's own class does not implement `streamError`: calling it ends the process.
    private static func failure(of stream: InputStream) -> any Error {
        let error = type(of: stream) == InputStream.self ? nil : stream.streamError
        return error ?? MultipartError.noStream
    }
}

extension URLRequest {
    var withoutBodyStream: URLRequest {
        var request = self
        request.httpBodyStream = nil
        return request
    }
}
