import AFURLSession
import Foundation
import Glibc

/// The heads of all responses to one URL, for `--include` and `--dump-header`.
@MainActor final class HeadLog {
    private let path: String?
    /// Those that stand before the body.
    private(set) var text = ""

    init(_ path: String?) {
        self.path = path
    }

    func add(_ response: HTTPURLResponse) throws(TransferFailure) {
        let fields = response.headerFields.map { "\($0.name): \($0.value)" }
        let head = ([response.statusLine] + fields).joined(separator: "\r\n") + "\r\n\r\n"
        text += head
        guard let path else { return }
        do throws(SystemFailure) {
            try Descriptor.append(Data(head.utf8), to: path)
        } catch {
            throw TransferFailure(.cannotWrite, "--dump-header: cannot write \(path): \(error.text)")
        }
    }

    /// For a terminal, line by line.
    var harmlessText: String {
        text.components(separatedBy: "\r\n").map(TerminalText.escaped).joined(separator: "\r\n")
    }
}

extension HTTPURLResponse {
    /// The first line of the head, as the server sent it. The space behind the status is there also if no phrase follows
    /// (RFC 9112 §4); a response of the cache has none.
    var statusLine: String { "\(httpVersion) \(statusCode) \(reasonPhrase)" }
}
