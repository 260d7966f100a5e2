import AFBase
import AFWire
package import Foundation

/// A command for `curl` that sends the same request.
package struct CurlCommand {
    package enum Body {
        case none
        case data(Data)
        case file(String)
        /// A body from standard input, in chunks unless its length is known.
        case stream(length: Int?)
    }

    /// The command reads a longer body from standard input: no terminal takes it as an argument.
    package static let longestBody = 64 << 10
    /// `curl` asks the server about longer bodies before it sends them.
    private static let longestUnasked = 1 << 20

    package var method: String
    package var url: URL?
    package var fields: [(name: String, value: String)]
    package var body: Body
    package var acceptsCodings = false
    package var socketPath: String?

    package func text(_ mask: SecretMask?, followsRedirects: Bool) -> String {
        var words = ["curl"]
        if isSecure { words.append("--http1.1") }
        if followsRedirects { words.append("--location") }
        if acceptsCodings { words.append("--compressed") }
        if let socketPath { words += ["--unix-socket", ShellText.word(socketPath)] }
        words += methodWords
        for field in fieldLines(mask) { words += ["--header", ShellText.word(field)] }
        words += bodyWords(mask)
        words += urlWords(mask)
        return (source(mask).map { "\($0) | " } ?? "") + words.joined(separator: " ")
    }

    // MARK: - Parts

    private var isSecure: Bool { HTTPText.isSameName(url?.scheme ?? "", other: "https") }

    private var hasBody: Bool { if case .none = body { false } else { true } }

    /// Whether the body has bytes, or may have some.
    package var sendsBytes: Bool {
        switch body {
        case .none: false
        case .data(let data): !data.isEmpty
        case .file, .stream: true
        }
    }

    /// Leaves out the method that `curl` would use anyway: with `-X`, `curl` would use it behind a redirect as well.
    private var methodWords: [String] {
        if method == (hasBody ? "POST" : "GET") { return [] }
        return method == "HEAD" && !hasBody ? ["--head"] : ["--request", ShellText.word(method)]
    }

    private func fieldLines(_ mask: SecretMask?) -> [String] {
        // A session sends no field whose name is not valid; and `@name` would be a file to `curl`.
        var lines = fields.filter { isName($0.name) && !CurlCommand.isOwn($0.name) }.map { field in
            let value = mask?.value(field.value, of: field.name) ?? field.value
            return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
        }
        guard hasBody else { return lines }
        // Removes the fields that `curl` would add by itself.
        if !has("Content-Type") { lines.append("Content-Type:") }
        if !has("Expect"), length ?? .max > CurlCommand.longestUnasked { lines.append("Expect:") }
        if case .stream(nil) = body { lines.append("Transfer-Encoding: chunked") }
        return lines
    }

    private func has(_ name: String) -> Bool { fields.contains { HTTPText.isSameName($0.name, other: name) } }

    private func isName(_ name: String) -> Bool {
        (try? name.withUTF8Bytes { name throws(RequestRejection) in try RequestSyntax.checkFieldName(name) }) != nil
    }

    /// Whether `curl` makes this field itself.
    private static func isOwn(_ name: String) -> Bool {
        ["Content-Length", "Transfer-Encoding"].contains { HTTPText.isSameName($0, other: name) }
    }

    private var length: Int? {
        switch body {
        case .none: 0
        case .data(let data): data.count
        case .file: nil
        case .stream(let length): length
        }
    }

    private func bodyWords(_ mask: SecretMask?) -> [String] {
        switch body {
        case .none: []
        case .file(let path): ["--data-binary", ShellText.word("@" + path)]
        case .stream: ["--data-binary", "@-"]
        case .data(let data):
            // `--data` would take a body that begins with `@` for the name of a file.
            CurlCommand.shown(masked(data, mask: mask)).map { ["--data-raw", ShellText.word($0)] } ?? [
                "--data-binary", "@-",
            ]
        }
    }

    /// The body, as long as the command shows it.
    private func masked(_ data: Data, mask: SecretMask?) -> Data {
        guard data.count <= CurlCommand.longestBody, let mask else { return data }
        return mask.body(data, type: fields.first { HTTPText.isSameName($0.name, other: "Content-Type") }?.value ?? "")
    }

    /// The command that writes the body into standard input, if the body is known and not too long.
    private func source(_ mask: SecretMask?) -> String? {
        guard case .data(let data) = body, data.count <= CurlCommand.longestBody else { return nil }
        let masked = masked(data, mask: mask)
        return CurlCommand.shown(masked) == nil ? ShellText.printing(masked) : nil
    }

    /// The body, if it is text that can be shown as it is.
    private static func shown(_ data: Data) -> String? {
        guard data.count <= longestBody, let text = String(data: data, encoding: .utf8) else { return nil }
        return text.unicodeScalars.allSatisfy(ShellText.isShown) ? text : nil
    }

    private func urlWords(_ mask: SecretMask?) -> [String] {
        guard let url else { return [] }
        let text = mask?.url(url) ?? url.absoluteString
        var words: [String] = []
        // A session sends the credentials of the URL when the server asks for them, and not before.
        if mask == nil, url.user != nil { words.append("--anyauth") }
        if text.contains("/.") { words.append("--path-as-is") }
        if text.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        if !ASCII.lowered(text).hasPrefix("http") { words.append("--url") }
        return words + [ShellText.word(text)]
    }
}
