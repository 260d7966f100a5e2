import AFURLSession
import Foundation

/// The text of `--write-out` after each URL.
struct WriteOut {
    private static let sizeLimit = 1 << 20

    private let parts: [WriteOutFormat.Part]

    /// - Parameter format: The format, or `@FILE`.
    init(_ format: String) throws(TransferFailure) {
        do throws(ArgumentError) {
            parts = try WriteOutFormat.parts(
                format.hasPrefix("@") ? Self.contents(of: String(format.dropFirst())) : format
            )
        } catch {
            throw TransferFailure(error)
        }
    }

    private static func contents(of path: String) throws(ArgumentError) -> String {
        do throws(SystemFailure) {
            // The line ends of the file do not count; `\n` does.
            let text = try Descriptor.input(path, limit: sizeLimit).filter { $0 != 0x0A && $0 != 0x0D }
            return String(decoding: text, as: UTF8.self)
        } catch {
            throw ArgumentError(code: .cannotRead, message: "--write-out: \(path): \(error.text)")
        }
    }

    /// The texts for standard output and standard error. On a terminal, the server's text is escaped.
    func text(_ figures: TransferFigures) -> (output: String, error: String) {
        var (output, error) = ("", "")
        var isError = false
        let isTerminal = (Descriptor.standardOutput.isTerminal, Descriptor.standardError.isTerminal)
        for part in parts {
            var text = ""
            var isOurs = false
            switch part {
            case .text(let words): (text, isOurs) = (words, true)
            case .variable(let variable): text = figures.value(of: variable).text
            case .json: text = figures.json
            case .headerJSON: text = figures.headerJSON
            case .header(let name): text = figures.response?.value(forHTTPHeaderField: name) ?? ""
            case .stream(let toError): isError = toError
            case .onError: if figures.exitCode == .done { return (output, error) }
            }
            if !isOurs, isError ? isTerminal.1 : isTerminal.0 { text = TerminalText.escaped(text) }
            if isError { error += text } else { output += text }
        }
        return (output, error)
    }
}
