import Foundation

/// A URL of the command line, split into the URL to load and the credentials.
struct TransferPlan {
    let url: URL
    let login: Login?

    /// - Parameter fields: The fields for the query.
    init(_ text: String, _ arguments: Arguments, query fields: Data? = nil) throws(TransferFailure) {
        let text = Self.withName(of: arguments, Self.withQuery(fields, text))
        guard let url = URL(string: text, encodingInvalidCharacters: false) else {
            let shown = SecretText.withoutPassword(text)
            throw TransferFailure(.malformedURL, "not a URL: \(shown) (are special characters percent-encoded?)")
        }
        // Credentials in the URL count like --user, and are taken out of the URL.
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        login = arguments.login ?? Login(of: components)
        if components?.user != nil || components?.password != nil {
            components?.user = nil
            components?.password = nil
        } else {
            components = nil
        }
        self.url = components?.url ?? url
    }

    /// Adds the fields of a form to the query, for `--get`.
    private static func withQuery(_ fields: Data?, _ text: String) -> String {
        guard let fields else { return text }
        let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let (front, fragment) = (String(parts[0]), parts.count > 1 ? "#\(parts[1])" : "")
        let sign = !front.contains("?") ? "?" : front.hasSuffix("?") || front.hasSuffix("&") ? "" : "&"
        return front + sign + String(decoding: fields, as: UTF8.self) + fragment
    }

    /// Adds the name of the uploaded file to a path that ends in a slash.
    private static func withName(of arguments: Arguments, _ text: String) -> String {
        guard arguments.namesUpload, case .upload(let path) = arguments.body, path != "-", !text.contains("?"),
            !text.contains("#")
        else { return text }
        let hasPath = text.components(separatedBy: "//").dropFirst().joined(separator: "//").contains("/")
        guard text.hasSuffix("/") || !hasPath else { return text }
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._~")
        let name = (path as NSString).lastPathComponent.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
        return text + (text.hasSuffix("/") ? "" : "/") + name
    }

    /// Where the body goes; `-` is standard output.
    func path(for target: OutputTarget, _ arguments: Arguments) throws(TransferFailure) -> String {
        let name: String
        switch target {
        case .path("-"): return "-"
        case .path(let path): name = path
        case .remoteName: name = try remoteName(arguments.takesServersName)
        }
        return arguments.outputFolder.map { "\($0)/\(name)" } ?? name
    }

    /// The last part of the path, percent-encoded, so that it has no slash.
    private func remoteName(_ mayBeMissing: Bool) throws(TransferFailure) -> String {
        let path = URLComponents(url: url, resolvingAgainstBaseURL: false)?.percentEncodedPath ?? ""
        let name = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        if !["", ".", ".."].contains(name) { return name }
        // The server may name the file.
        if mayBeMissing { return "download" }
        throw TransferFailure(.cannotWrite, "--remote-name: the path of the URL ends without a name; use --output PATH")
    }
}
