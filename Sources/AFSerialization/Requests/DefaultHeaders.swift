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
