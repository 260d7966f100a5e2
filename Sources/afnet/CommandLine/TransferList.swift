/// The URLs of a group, one for each word and each choice from its lists.
struct TransferList {
    /// One URL to load.
    struct Item {
        let url: String
        let target: OutputTarget
        /// The place of its word on the command line.
        let place: Int
    }

    /// How many URLs all words together may stand for.
    private static let limit = 100_000_000

    private let patterns: [(pattern: URLPattern, target: OutputTarget, start: Int)]
    let count: Int

    init(_ arguments: Arguments) throws(ArgumentError) {
        var patterns: [(URLPattern, OutputTarget, Int)] = []
        var count = 0
        for (place, text) in arguments.urls.enumerated() {
            let pattern = try URLPattern(text, expands: arguments.expandsURLs)
            patterns.append((pattern, arguments.target(at: place), count))
            count += pattern.count
            if count > Self.limit { throw .usage("there are more than \(Self.limit) URLs") }
        }
        (self.patterns, self.count) = (patterns, count)
    }

    subscript(index: Int) -> Item {
        var place = patterns.count - 1
        while patterns[place].start > index { place -= 1 }
        let (pattern, target, start) = patterns[place]
        let (url, words) = pattern[index - start]
        return Item(url: url, target: target.with(words), place: place)
    }

    /// How many of the URLs are sent standard input.
    func uploadsOfStandardInput(_ uploads: [String]) -> Int {
        zip(uploads, patterns).reduce(0) { $0 + ($1.0 == "-" ? $1.1.pattern.count : 0) }
    }
}
