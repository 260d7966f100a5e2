import AFURLSession
import Foundation

/// A URL of the command line, split into the URL to load and the credentials.
struct TransferPlan {
    let url: URL
    let login: Login?

    /// - Parameters:
    ///   - scheme: The scheme of a URL without one; nil for that of the arguments.
    ///   - fields: The fields for the query.
    ///   - netrc: The passwords for a URL without one.
    init(
        _ text: String,
        arguments: Arguments,
        scheme: String? = nil,
        query fields: Data? = nil,
        netrc: NetrcFile? = nil
    ) throws(TransferFailure) {
        var text = URLText(text, scheme: scheme ?? arguments.schemes.default.rawValue, keepsDots: arguments.keepsDots)
        if case .upload(let path) = arguments.body, path != "-" { text.add(name: (path as NSString).lastPathComponent) }
        if let fields { text.add(query: String(decoding: fields, as: UTF8.self)) }
        guard let url = URL(string: text.text, encodingInvalidCharacters: false) else {
            let shown = SecretText.withoutPassword(text.text)
            throw TransferFailure(.malformedURL, "not a URL: \(shown) (are special characters percent-encoded?)")
        }
        // Credentials in the URL count like --user, and are taken out of the URL.
        var components = URLComponents(url: url, resolvingAgainstBaseURL: false)
        guard arguments.schemes.allows(url.scheme) else {
            throw TransferFailure(.unsupported, "--proto does not allow \(url.scheme ?? "") URLs")
        }
        if arguments.refusesUserInURL, components?.user != nil || components?.password != nil {
            throw TransferFailure(.userRefused, "there is a user in the URL, which --disallow-username-in-url refuses")
        }
        login = arguments.login ?? Login(of: components, or: netrc)
        if components?.user != nil || components?.password != nil {
            components?.user = nil
            components?.password = nil
        } else {
            components = nil
        }
        self.url = components?.url ?? url
    }

    /// Where the body goes; `-` is standard output.
    func path(for target: OutputTarget, arguments: Arguments) throws(TransferFailure) -> String {
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
