/// The URLs of a group, one for each word and each choice from its lists.
struct TransferList {
    /// One URL to load.
    struct Item {
        let url: String
        let target: OutputTarget
        /// The place of its word on the command line.
        let place: Int
        /// The file to upload.
        let upload: String?
    }

    /// How many URLs all words together may stand for.
    private static let limit = 100_000_000

    private struct Row {
        let pattern: URLPattern
        let target: OutputTarget
        /// The files to upload, each to all URLs of the pattern; nil for none.
        let uploads: URLPattern?
        let start: Int
    }

    private let rows: [Row]
    let count: Int

    init(_ arguments: Arguments) throws(ArgumentError) {
        var rows: [Row] = []
        var count = 0
        for (place, text) in arguments.urls.enumerated() {
            let pattern = try URLPattern(text, expands: arguments.expandsURLs)
            let word = place < arguments.uploads.count ? arguments.uploads[place] : nil
            let uploads = try word.map { text throws(ArgumentError) in
                try URLPattern(text, expands: arguments.expandsURLs)
            }
            rows.append(Row(pattern: pattern, target: arguments.target(at: place), uploads: uploads, start: count))
            let (product, isTooLarge) = pattern.count.multipliedReportingOverflow(by: uploads?.count ?? 1)
            count += isTooLarge ? Self.limit + 1 : min(product, Self.limit + 1)
            if count > Self.limit { throw .usage("there are more than \(Self.limit) URLs") }
        }
        (self.rows, self.count) = (rows, count)
    }

    subscript(index: Int) -> Item {
        var place = rows.count - 1
        while rows[place].start > index { place -= 1 }
        let row = rows[place]
        let rest = index - row.start
        // All URLs get a file before any of them gets the next.
        let (url, words) = row.pattern[rest % row.pattern.count]
        let upload = row.uploads?[rest / row.pattern.count].url
        return Item(url: url, target: row.target.with(words), place: place, upload: upload)
    }

    /// The files to upload that are named without a list.
    var namedUploads: [String] { rows.compactMap { $0.uploads?.count == 1 ? $0.uploads?[0].url : nil } }

    /// How many of the URLs are sent standard input.
    func uploadsOfStandardInput(_ uploads: [String]) -> Int {
        zip(uploads, rows).reduce(0) { $0 + ($1.0 == "-" ? $1.1.pattern.count : 0) }
    }
}
