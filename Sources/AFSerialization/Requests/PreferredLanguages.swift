import Foundation

/// The languages the user prefers, the most preferred first.
///
/// On Linux `Locale.preferredLanguages` is always `en-001`, so this reads the environment, as gettext does.
enum PreferredLanguages {
    /// Read once: the environment must not be read while another thread changes it.
    static let ofThisProcess = of(ProcessInfo.processInfo.environment)

    /// The locale for messages is the first of `LC_ALL`, `LC_MESSAGES` and `LANG` that is not empty. Unless it is `C`
    /// or `POSIX`, which name no language, `LANGUAGE` may name languages that go before it.
    static func of(_ environment: [String: String]) -> [String] {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let locale, let language = tag(of: locale) else { return [] }
        let others = (environment["LANGUAGE"] ?? "").split(separator: ":").compactMap { tag(of: String($0)) }
        var seen: Set<String> = []
        return (others + [language]).filter { seen.insert($0).inserted }
    }

    /// `en-US` of `en_US.UTF-8@euro`; nil of what names no language.
    static func tag(of locale: String) -> String? {
        let name = locale.prefix { $0 != "." && $0 != "@" }
        var parts = name.split(whereSeparator: { $0 == "_" || $0 == "-" }).map(String.init)
        guard let language = parts.first, (2...3).contains(language.utf8.count), parts.allSatisfy(isSubtag) else {
            return nil
        }
        if let script = script(of: locale), parts.count < 3 { parts.insert(script, at: 1) }
        return parts.joined(separator: "-")
    }

    private static func isSubtag(_ part: String) -> Bool {
        (2...8).contains(part.utf8.count)
            && part.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: false
                }
            }
    }

    /// The script that the modifier names. Other modifiers name a currency or a dialect.
    private static func script(of locale: String) -> String? {
        guard let at = locale.firstIndex(of: "@") else { return nil }
        let scripts = ["latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva", "arabic": "Arab"]
        return scripts[String(locale[locale.index(after: at)...])]
    }
}
