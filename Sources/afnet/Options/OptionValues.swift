import AFURLSession
import Foundation

/// How images are shown in a terminal.
package enum GraphicsMode: String, CaseIterable, Sendable {
    /// The best mode of the terminal; `none` if standard output is not a terminal.
    case auto
    /// Two pixels to a character, for any terminal with 24-bit colours.
    case blocks
    /// Sixel graphics of DEC's terminals.
    case sixel
    /// The graphics protocol of kitty.
    case kitty
    /// No images, only their names and sizes.
    case none
}

/// Where the body of a URL goes.
package enum OutputTarget: Sendable, Equatable {
    /// A file; `-` is standard output.
    case path(String)
    /// A file with the last part of the URL's path as its name, or with the name that the server gives.
    case remoteName
}

/// Where a download is resumed.
package enum ResumeOption: Sendable, Equatable {
    /// After the bytes that the output file has.
    case size
    case offset(Int64)
}

/// How progress is shown.
package enum ProgressStyle: Sendable {
    /// A bar with sizes, the rate, and the time left.
    case full
    /// A bar and nothing else.
    case plain
    case none
}

/// The value of `--trace` and `--trace-ascii`.
package struct DumpOption: Sendable, Equatable {
    /// `-` is standard output, `%` standard error.
    let path: String
    /// Whether the bytes stand in front of the text.
    let hasBytes: Bool
}

/// The cache mode of a request, with the names that browsers use.
package enum CacheMode: String, Sendable, CaseIterable {
    case `default`
    case noStore = "no-store"
    case reload
    case noCache = "no-cache"
    case forceCache = "force-cache"
    case onlyIfCached = "only-if-cached"

    var policy: URLRequest.CachePolicy {
        switch self {
        // The session of no-store has no cache.
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
    /// Whether cookies are stored and sent.
    package var isOn = false
    /// The values of `--cookie`, as they are.
    package var extra: [String] = []
    /// The files to load.
    package var files: [String] = []
    /// The file to write at the end.
    package var jar: String?
    /// Whether session cookies of the files are left out.
    package var skipsSessionCookies = false

    /// - Parameter text: Cookies as in the field `Cookie`, or the name of a file, which has no equals sign.
    mutating func add(_ text: String) {
        if text.contains("=") {
            extra.append(text)
        } else {
            isOn = true
            // An empty name has no file, and turns cookies on.
            if !text.isEmpty { files.append(text) }
        }
    }
}

/// What happens to the body of a response with a status of 400 or above.
package enum StatusFailure: Sendable {
    case dropsBody
    case keepsBody
}

/// A shell that can complete options.
enum Shell: String, CaseIterable, Sendable {
    case bash, zsh, fish

    static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

/// The value of one `--header`. The library checks name and value.
package enum HeaderOption: Sendable, Equatable {
    /// `Name: value`, or `Name;` for an empty one.
    case set(name: String, value: String)
    /// `Name:`
    case removed(name: String)

    /// Fields that a request must have.
    private static let permanent = ["content-length", "host"]

    /// `Transfer-Encoding: chunked`
    var asksForChunks: Bool {
        guard case .set(let name, let value) = self, name.lowercased() == "transfer-encoding" else { return false }
        return value.lowercased().split(separator: ",").contains { $0.drop { $0 == " " }.hasPrefix("chunked") }
    }

    /// Name and value in lower case.
    var lowercased: HeaderOption {
        switch self {
        case .set(let name, let value): .set(name: name.lowercased(), value: value.lowercased())
        case .removed(let name): .removed(name: name.lowercased())
        }
    }

    /// The options of one value, which may be `@FILE`: a file with one on each line; `@-` is standard input.
    static func options(_ text: String, of name: String) throws(ArgumentError) -> [HeaderOption] {
        guard text.hasPrefix("@") else { return [try HeaderOption(text)] }
        let lines = try TextFile.lines(of: String(text.dropFirst()), for: name)
        return try lines.filter { !$0.isEmpty }.map { line throws(ArgumentError) in try HeaderOption(line) }
    }

    init(_ text: String) throws(ArgumentError) {
        guard let colon = text.firstIndex(of: ":") else {
            guard text.hasSuffix(";"), text.count > 1 else {
                throw .badArgument("--header needs \"Name: value\", \"Name:\" or \"Name;\", not \"\(text)\"")
            }
            self = .set(name: String(text.dropLast()), value: "")
            return
        }
        let name = String(text[..<colon])
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        if name.isEmpty { throw .badArgument("--header \"\(text)\" has no name") }
        if value.isEmpty, Self.permanent.contains(name.lowercased()) {
            throw .badArgument("\(name) cannot be left out: HTTP/1.1 needs it")
        }
        self = value.isEmpty ? .removed(name: name) : .set(name: name, value: String(value))
    }
}

/// The options about redirects.
package struct RedirectOptions: Sendable, Equatable {
    package var isFollowing = false
    /// Whether credentials and cookies of the command line are sent to other origins.
    package var isTrusting = false
    package var maximum = 50
    /// The statuses that keep POST.
    package var keepsPost: Set<Int> = []

    mutating func keepPost(over status: Int, _ isKept: Bool) {
        if isKept { keepsPost.insert(status) } else { keepsPost.remove(status) }
    }

    /// The next request, changed as these options say.
    ///
    /// - Parameters:
    ///   - former: The request that was redirected.
    ///   - original: The first request.
    ///   - stream: A new stream of the body, if the body is a stream.
    func adjust(
        _ next: URLRequest,
        after status: Int,
        to former: URLRequest?,
        madeFrom original: URLRequest?,
        _ stream: @autoclosure () -> InputStream? = nil
    ) -> URLRequest {
        var next = next
        var kept = isTrusting ? Self.secrets(of: original) : []
        // A body that one redirect has dropped does not come back with the next.
        if keepsPost.contains(status), former?.httpMethod == "POST" {
            next.httpMethod = "POST"
            kept.append("Content-Type")
            if let stream = stream() {
                next.httpBodyStream = stream
                kept.append("Content-Length")
            } else {
                next.httpBody = original?.httpBody
            }
        }
        for name in kept where next.value(forHTTPHeaderField: name) == nil {
            next.setValue(original?.value(forHTTPHeaderField: name), forHTTPHeaderField: name)
        }
        return next
    }

    /// The fields of the command line that the session leaves behind at another origin.
    private static func secrets(of request: URLRequest?) -> [String] {
        let own: Set<String> = ["host", "referer", "proxy-authorization"]
        return (request?.allHTTPHeaderFields ?? [:]).keys.filter {
            RedirectPolicy().withholds($0) && !own.contains($0.lowercased())
        }
    }
}
