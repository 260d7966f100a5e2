import AFURLSession
import Foundation
import Glibc

/// What is sent, and whether it is in memory. Files and streams never are as a whole.
struct Payload {
    private enum Source {
        case none
        case memory(Data)
        case file(URL)
        /// Something without a length, as a pipe.
        case stream(String)
    }

    private let source: Source

    /// In memory are the parts of the command line, standard input where several URLs may get it, and what
    /// must be there again although a redirect has dropped it.
    init(_ arguments: Arguments) throws(TransferFailure) {
        do throws(SystemFailure) {
            source = try Self.source(of: arguments)
        } catch {
            throw TransferFailure(.cannotRead, "the body to send cannot be read: \(error.text)")
        }
    }

    private static func source(of arguments: Arguments) throws(SystemFailure) -> Source {
        let isKept = !arguments.redirects.keepsPost.isEmpty
        switch arguments.body {
        case nil: return .none
        case .text(let text): return .memory(Data(text.utf8))
        case .file("-"): return .memory(try Descriptor.standardInput.readToEnd())
        case .upload("-") where isKept: return .memory(try Descriptor.standardInput.readToEnd())
        case .file(let path) where isKept, .upload(let path) where isKept:
            return .memory(try Descriptor.contents(of: path))
        case .upload("-"): return .stream("/dev/stdin")
        case .file(let path), .upload(let path): return try source(at: path)
        }
    }

    private static func source(at path: String) throws(SystemFailure) -> Source {
        // Whoever may not read it is told before anything is sent.
        guard try Descriptor.isRegularFile(path) else { return .stream(path) }
        let file = try Descriptor.opening(path, O_RDONLY)
        try file.close()
        return .file(URL(fileURLWithPath: path))
    }

    var data: Data? { if case .memory(let data) = source { data } else { nil } }

    @MainActor func task(for request: URLRequest, in session: URLSession) -> URLSessionDataTask {
        switch source {
        case .none, .memory: return session.dataTask(with: request)
        case .file(let url): return session.uploadTask(with: request, fromFile: url)
        case .stream(let path):
            var request = request
            request.httpBodyStream = InputStream(fileAtPath: path)
            return session.dataTask(with: request)
        }
    }
}
