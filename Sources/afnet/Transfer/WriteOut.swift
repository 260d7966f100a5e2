import Foundation

/// What `--write-out` says behind each URL.
struct WriteOut {
    enum Part {
        case text(String)
        case variable(String)
        case json
        case headerJSON
        case header(String)
        /// What follows goes to standard error, or to standard output again.
        case stream(isError: Bool)
        /// What follows is for URLs that failed.
        case onError
    }

    private static let sizeLimit = 1 << 20

    private let parts: [Part]

    /// - Parameter format: of the command line; `@FILE` has it.
    init(_ format: String) throws(TransferFailure) {
        do throws(ArgumentError) {
            parts = try Self.parts(format.hasPrefix("@") ? Self.contents(of: String(format.dropFirst())) : format)
        } catch {
            throw TransferFailure(error.code, error.message)
        }
    }

    private static func contents(of path: String) throws(ArgumentError) -> String {
        do throws(SystemFailure) {
            let data =
                path == "-"
                ? try Descriptor.standardInput.readToEnd(limit: sizeLimit)
                : try Descriptor.contents(of: path, limit: sizeLimit)
            return String(decoding: data, as: UTF8.self)
        } catch {
            throw ArgumentError(code: .cannotRead, message: "--write-out: \(path): \(error.text)")
        }
    }

    /// What is for standard output, and what for standard error. Terminals get nothing of the server's to obey.
    func text(_ figures: TransferFigures) -> (output: String, error: String) {
        var (output, error) = ("", "")
        var isError = false
        let isTerminal = (Descriptor.standardOutput.isTerminal, Descriptor.standardError.isTerminal)
        for part in parts {
            var text = ""
            var isOurs = false
            switch part {
            case .text(let words): (text, isOurs) = (words, true)
            case .variable(let name): text = TransferFigures.value(named: name)?(figures).text ?? ""
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

// MARK: - Reading

extension WriteOut {
    /// - Parameter format: `@FILE` is not looked into yet.
    static func parts(_ format: String) throws(ArgumentError) -> [Part] {
        if format.hasPrefix("@") { return [] }
        var parts: [Part] = []
        var text = ""
        var rest = format[...]
        while let character = rest.popFirst() {
            if character == "\\", let escape = rest.first {
                rest.removeFirst()
                text += escapes[escape] ?? "\\\(escape)"
            } else if character == "%", rest.first == "%" {
                rest.removeFirst()
                text += "%"
            } else if character == "%", let part = try part(&rest) {
                parts += [.text(text), part]
                text = ""
            } else {
                text.append(character)
            }
        }
        return parts + [.text(text)]
    }

    private static let escapes: [Character: String] = ["n": "\n", "r": "\r", "t": "\t", "\\": "\\"]

    /// `{name}` or `header{name}`; nil, and nothing is taken, if it is neither.
    private static func part(_ rest: inout Substring) throws(ArgumentError) -> Part? {
        let isHeader = rest.hasPrefix("header{")
        guard isHeader || rest.hasPrefix("{") else { return nil }
        let inner = rest.dropFirst(isHeader ? 7 : 1)
        guard let end = inner.firstIndex(of: "}") else {
            throw .usage("--write-out: there is no } behind \"%\(rest.prefix(30))\"")
        }
        let name = String(inner[..<end])
        rest = inner[end...].dropFirst()
        if isHeader { return .header(name) }
        switch name {
        case "json": return .json
        case "header_json": return .headerJSON
        case "stderr": return .stream(isError: true)
        case "stdout": return .stream(isError: false)
        case "onerror": return .onError
        case _ where TransferFigures.names.contains(name): return .variable(name)
        default: throw .usage("--write-out knows no %{\(name)}: afnet help write-out has the names")
        }
    }
}
