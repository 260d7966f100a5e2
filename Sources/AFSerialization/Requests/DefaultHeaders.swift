import Foundation

/// The header fields of new request serializers.
enum DefaultHeaders {
    static let standard: [String: String] = {
        var headers = ["User-Agent": userAgent(of: programName, version: programVersion, on: systemVersion)]
        headers["Accept-Language"] = acceptLanguage(PreferredLanguages.ofThisProcess)
        return headers
    }()

    // MARK: - Accept-Language

    /// The languages in order, each with a quality 0.1 below the one before, down to 0.5. Nil if there are none.
    static func acceptLanguage(_ languages: [String]) -> String? {
        let qualities = ["1", "0.9", "0.8", "0.7", "0.6", "0.5"]
        let entries = zip(languages, qualities).map { "\($0);q=\($1)" }
        return entries.isEmpty ? nil : entries.joined(separator: ", ")
    }

    // MARK: - User-Agent

    static func userAgent(of name: String, version: String, on system: String) -> String {
        let product = ascii(name)
        return "\(product.isEmpty ? "AFNetworking" : product)/\(ascii(version)) (Linux \(system))"
    }

    private static var programName: String {
        let bundle = Bundle.main
        return bundle.object(forInfoDictionaryKey: "CFBundleExecutable") as? String ?? bundle.bundleIdentifier
            ?? ProcessInfo.processInfo.processName
    }

    private static var programVersion: String {
        let versions = ["CFBundleShortVersionString", "CFBundleVersion"].lazy.compactMap {
            Bundle.main.object(forInfoDictionaryKey: $0) as? String
        }
        return versions.first ?? "1"
    }

    private static var systemVersion: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
    }

    /// Transliterates to ASCII. Drops what is not printable ASCII even then, and what would open or end a comment.
    static func ascii(_ text: String) -> String {
        let latin = StringTransform("Any-Latin; Latin-ASCII")
        let letters = text.utf8.allSatisfy { $0 < 0x80 } ? text : text.applyingTransform(latin, reverse: false) ?? text
        let kept = letters.unicodeScalars.filter { (" "..."~").contains($0) && !"()\\".unicodeScalars.contains($0) }
        return String(String.UnicodeScalarView(kept))
    }
}

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
