import AFURLSession
import Foundation

/// Masks secrets of requests and responses as `***`, unless `--show-secrets` shows them.
struct SecretText {
    let isShown: Bool
    private let mask = SecretMask()

    init(isShown: Bool = false) {
        self.isShown = isShown
    }

    /// The value of a header field.
    func value(_ value: String, of name: String) -> String { isShown ? value : mask.value(value, of: name) }

    /// The path and query of a request.
    func target(_ target: String) -> String {
        guard !isShown, let mark = target.firstIndex(of: "?") else { return target }
        return target[...mark] + mask.query(target[target.index(after: mark)...])
    }

    /// The text of a URL, which may be malformed, without user name and password.
    static func withoutPassword(_ text: String) -> String {
        guard let slashes = text.range(of: "//") else { return text }
        let authority = text[slashes.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return text }
        return String(text[..<slashes.upperBound] + text[text.index(after: at)...])
    }
}
