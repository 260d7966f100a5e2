import AFURLSession

/// How pictures are shown in a terminal.
package enum GraphicsMode: String, CaseIterable, Sendable {
    /// The best that the terminal says it has; what is no terminal gets words only.
    case auto
    /// Two pixels to a character, for any terminal with 24-bit colours.
    case blocks
    /// Pixels, as DEC's terminals had them.
    case sixel
    /// Pixels, as kitty has them.
    case kitty
    /// Words only.
    case none
}

/// Where the body of a URL goes.
package enum OutputTarget: Sendable, Equatable {
    /// A file; `-` is standard output.
    case path(String)
    /// A file with the last name of the URL's path, or the name that the server gives.
    case remoteName
}

/// Where a download goes on.
package enum ResumeOption: Sendable, Equatable {
    /// Behind what the output has already.
    case size
    case offset(Int64)
}

/// How progress is shown.
package enum ProgressStyle: Sendable {
    /// A bar with sizes, the rate, and the time that is left.
    case full
    /// A bar and nothing else.
    case plain
    case none
}

/// What a URL wants from the cache, by the names that browsers use.
package enum CacheMode: String, Sendable, CaseIterable {
    case `default`
    case noStore = "no-store"
    case reload
    case noCache = "no-cache"
    case forceCache = "force-cache"
    case onlyIfCached = "only-if-cached"

    var policy: URLRequest.CachePolicy {
        switch self {
        // Without a cache, in the case of no-store.
        case .default, .noStore: .useProtocolCachePolicy
        case .reload: .reloadIgnoringLocalCacheData
        case .noCache: .reloadRevalidatingCacheData
        case .forceCache: .returnCacheDataElseLoad
        case .onlyIfCached: .returnCacheDataDontLoad
        }
    }
}

/// The options about cookies.
package struct CookieOptions: Sendable, Equatable {
    /// Cookies are taken and sent.
    package var isOn = false
    /// `--cookie`, each `name=value`.
    package var extra: [String] = []
    /// Files to load.
    package var files: [String] = []
    /// The file to write in the end.
    package var jar: String?
    /// Those of the files that would end with their session are left out.
    package var skipsSessionCookies = false

    /// - Parameter text: as in the field `Cookie`.
    mutating func add(_ text: String, of name: String) throws(ArgumentError) {
        let parts = text.split(separator: ";").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }
        guard !parts.isEmpty, parts.allSatisfy({ $0.contains("=") }) else {
            throw .badArgument("\(name) needs \"NAME=VALUE; …\"; files of cookies are for --cookie-file")
        }
        extra += parts.map(String.init)
    }
}

/// What becomes of a status of 400 or above.
package enum StatusFailure: Sendable {
    case dropsBody
    case keepsBody
}

/// A shell that can complete options.
enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}
