import AFWire
import Foundation

/// A request as a command for `curl` that sends the same.
struct CurlCommand {
    enum Body {
        case none
        case data(Data)
        case file(String)
        /// From standard input, in chunks unless its length is announced.
        case stream(length: Int?)
    }

    /// A longer body is left to standard input: no terminal takes it.
    static let longestBody = 64 << 10
    /// `curl` asks the server about longer ones before it sends them.
    private static let longestUnasked = 1 << 20

    var method: String
    var url: URL?
    var fields: [(name: String, value: String)]
    var body: Body
    var acceptsCodings = false
    var socketPath: String?

    func text(_ mask: SecretMask?, followsRedirects: Bool) -> String {
        var words = ["curl"]
        if isSecure { words.append("--http1.1") }
        if followsRedirects { words.append("--location") }
        if acceptsCodings { words.append("--compressed") }
        if let socketPath { words += ["--unix-socket", ShellText.word(socketPath)] }
        words += methodWords
        for field in fieldLines(mask) { words += ["--header", ShellText.word(field)] }
        words += bodyWords(mask)
        words += urlWords(mask)
        return (source.map { "\($0) | " } ?? "") + words.joined(separator: " ")
    }

    // MARK: - Parts

    private var isSecure: Bool { HTTPText.isSameName(url?.scheme ?? "", "https") }

    private var hasBody: Bool { if case .none = body { false } else { true } }

    /// Whether there is more to send than the end of a body.
    var sendsBytes: Bool {
        switch body {
        case .none: false
        case .data(let data): !data.isEmpty
        case .file, .stream: true
        }
    }

    /// What is implied is not said: `curl` would say it again behind a redirect.
    private var methodWords: [String] {
        if method == (hasBody ? "POST" : "GET") { return [] }
        return method == "HEAD" && !hasBody ? ["--head"] : ["--request", ShellText.word(method)]
    }

    private func fieldLines(_ mask: SecretMask?) -> [String] {
        // What is no name is not sent either; and `@name` would be a file to `curl`.
        var lines = fields.filter { isName($0.name) && !CurlCommand.isOwn($0.name) }.map { field in
            let value = mask?.value(field.value, of: field.name) ?? field.value
            return value.isEmpty ? "\(field.name);" : "\(field.name): \(value)"
        }
        guard hasBody else { return lines }
        // What `curl` would add by itself.
        if !has("Content-Type") { lines.append("Content-Type:") }
        if !has("Expect"), length ?? .max > CurlCommand.longestUnasked { lines.append("Expect:") }
        if case .stream(nil) = body { lines.append("Transfer-Encoding: chunked") }
        return lines
    }

    private func has(_ name: String) -> Bool { fields.contains { HTTPText.isSameName($0.name, name) } }

    private func isName(_ name: String) -> Bool {
        (try? name.withUTF8Bytes { name throws(RequestRejection) in try RequestSyntax.checkFieldName(name) }) != nil
    }

    /// `curl` finds these out itself.
    private static func isOwn(_ name: String) -> Bool {
        ["Content-Length", "Transfer-Encoding"].contains { HTTPText.isSameName($0, name) }
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
            // Not `--data`, to which a body that begins with `@` is the name of a file.
            CurlCommand.shown(data).map { ["--data-raw", ShellText.word(masked($0, mask))] } ?? ["--data-binary", "@-"]
        }
    }

    private func masked(_ form: String, _ mask: SecretMask?) -> String {
        let type = fields.first { HTTPText.isSameName($0.name, "Content-Type") }?.value ?? ""
        let isForm = HTTPText.lowered(type).hasPrefix("application/x-www-form-urlencoded")
        return isForm ? mask?.query(form[...]) ?? form : form
    }

    /// What goes into standard input, if that is known and not too long.
    private var source: String? {
        guard case .data(let data) = body, data.count <= CurlCommand.longestBody, CurlCommand.shown(data) == nil else {
            return nil
        }
        return ShellText.printing(data)
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
        // What is in the URL is sent when it is asked for, and not before.
        if mask == nil, url.user != nil { words.append("--anyauth") }
        if text.contains("/.") { words.append("--path-as-is") }
        if text.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        if !HTTPText.lowered(text).hasPrefix("http") { words.append("--url") }
        return words + [ShellText.word(text)]
    }
}
