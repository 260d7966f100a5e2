import AFURLSession
import Foundation
import Glibc

/// Runs the URLs of a command line one after the other, in one session.
@MainActor struct Client {
    private let arguments: Arguments
    private let console: Console
    private let session: URLSession

    init(_ arguments: Arguments) {
        self.arguments = arguments
        console = Console(isSilent: arguments.isSilent && !arguments.showsErrors)
        session = URLSession(configuration: arguments.configuration, delegate: nil, delegateQueue: .main)
    }

    /// Goes on after a failure; the code is that of the last URL.
    func run() async -> ExitCode {
        var code = ExitCode.done
        let body: Data?
        do throws(SystemFailure) {
            body = try loadBody()
        } catch {
            console.report("the body to send cannot be read: \(error.text)")
            return .cannotRead
        }
        for (index, url) in arguments.urls.enumerated() {
            do throws(TransferFailure) {
                try await load(url, body, to: index < arguments.outputs.count ? arguments.outputs[index] : "-")
                code = .done
            } catch {
                console.report(error.message)
                code = error.code
            }
        }
        return code
    }

    private func load(_ text: String, _ body: Data?, to path: String) async throws(TransferFailure) {
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            throw TransferFailure(.malformedURL, "not a URL: \(text) (are special characters percent-encoded?)")
        }
        let request = arguments.request(for: url, body: body)
        let transfer = Transfer(session.dataTask(with: request), arguments, BodySink(path), console)
        try await transfer.run()
    }

    private func loadBody() throws(SystemFailure) -> Data? {
        switch arguments.body {
        case nil: return nil
        case .text(let text): return Data(text.utf8)
        case .file("-"): return try Descriptor.standardInput.readToEnd()
        case .file(let path):
            let file = try Descriptor.opening(path, O_RDONLY)
            let result = Result { () throws(SystemFailure) in try file.readToEnd() }
            try file.close()
            return try result.get()
        }
    }
}
