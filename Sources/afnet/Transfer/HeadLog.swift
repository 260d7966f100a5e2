import AFURLSession
import Foundation
import Glibc

/// The heads of all responses to one URL, for `--include` and `--dump-header`.
@MainActor final class HeadLog {
    private let path: String?
    private let files: RunFiles
    /// The heads so far.
    private(set) var text = ""

    init(_ path: String?, files: RunFiles) {
        self.path = path
        self.files = files
    }

    func add(_ response: HTTPURLResponse) throws(TransferFailure) {
        let fields = response.headerFields.map { "\($0.name): \($0.value)" }
        let head = ([response.statusLine] + fields).joined(separator: "\r\n") + "\r\n\r\n"
        try add(text: head)
    }

    func add(text more: String) throws(TransferFailure) {
        text += more
        guard let path else { return }
        do throws(SystemFailure) {
            try files.append(Data(more.utf8), to: path)
        } catch {
            throw TransferFailure(.cannotWrite, "--dump-header: cannot write \(path): \(error.text)")
        }
    }

    /// Heads for a terminal, with control characters escaped.
    static func harmless(_ heads: String) -> String {
        heads.components(separatedBy: "\r\n").map(TerminalText.escaped).joined(separator: "\r\n")
    }
}
