import Foundation

/// The command line that all clients of `run.py` understand: URL TOTAL CONCURRENCY [--warm N] [--ca FILE]
/// [--close] [--resume], and this client's own `--style`.
struct Arguments {
    /// Which of the public ways of loading is measured.
    enum Style: String, CaseIterable {
        case completion
        case async
        case delegate
        /// A delegate that has no use for bodies: what receiving costs, without handing over.
        case discard
        /// Download tasks: the body goes to a file.
        case download
    }

    let url: URL
    let total: Int
    let concurrency: Int
    private(set) var warm = 0
    private(set) var style = Style.completion
    /// The authorities to trust.
    private(set) var ca: String?
    /// A new connection for each request.
    private(set) var closes = false
    /// With `closes`: short handshakes.
    private(set) var resumes = false

    static let usage = """
        usage: afbench URL TOTAL CONCURRENCY [--warm N] [--ca FILE] [--close] [--resume]
                       [--style completion|async|delegate|discard|download]
        """

    init?(_ words: [String]) {
        guard words.count >= 3,
            let url = URL(string: words[0]),
            let total = Int(words[1]), total > 0,
            let concurrency = Int(words[2]), concurrency > 0
        else { return nil }
        (self.url, self.total, self.concurrency) = (url, total, concurrency)
        var rest = words[3...]
        while let option = rest.popFirst() {
            switch option {
            case "--close": closes = true
            case "--resume": resumes = true
            default: guard let value = rest.popFirst(), take(option, value) else { return nil }
            }
        }
    }

    private mutating func take(_ option: String, _ value: String) -> Bool {
        switch option {
        case "--warm":
            guard let count = Int(value), count >= 0 else { return false }
            warm = count
        case "--ca":
            ca = value
        case "--style":
            guard let named = Style(rawValue: value) else { return false }
            style = named
        default:
            return false
        }
        return true
    }
}
