import AFURLSession

/// The words of a command line that are still to be read, and where the secrets stand among those that were.
package struct WordQueue {
    /// Bytes of one word.
    package struct Place: Hashable, Sendable {
        /// The index of the word.
        package let word: Int
        package let bytes: Range<Int>
    }

    /// How many words files may add, one by the other: a file may name itself.
    private static let mostInserted = 100_000

    private let words: [String]
    private var next = 0
    /// The words of files that come before the next one, the next one last.
    private var inserted: [String] = []
    private var insertedCount = 0
    /// Where the secrets are that were read so far.
    package private(set) var secrets: [Place] = []

    package init(_ words: [String]) {
        self.words = words
    }

    var isEmpty: Bool { inserted.isEmpty && next == words.count }
    var first: String? { inserted.last ?? (next == words.count ? nil : words[next]) }
    /// Whether the word that was read last is of a file, and therefore in no list of processes.
    private var isOfFile = false

    @discardableResult
    mutating func pop() -> String? {
        guard let word = first else { return nil }
        isOfFile = inserted.popLast() != nil
        if !isOfFile { next += 1 }
        return word
    }

    /// Puts words of a file in front of those that are left.
    mutating func insert(_ more: [String]) throws(ArgumentError) {
        insertedCount += more.count
        if insertedCount > Self.mostInserted { throw .usage("the files of --config have too many options") }
        inserted += more.reversed()
    }

    mutating func popURL() -> String? {
        guard let word = pop() else { return nil }
        hide(.login, in: word)
        return word
    }

    /// Notes where the secret is.
    ///
    /// - Parameter value: The word that was read last, or the end of it.
    mutating func hide(_ secret: CommandOption.Secret, in value: String) {
        guard next > 0, !isOfFile, let place = secret.place(in: value) else { return }
        let start = words[next - 1].utf8.count - value.utf8.count
        secrets.append(Place(word: next - 1, bytes: start + place.lowerBound..<start + place.upperBound))
    }
}

extension CommandOption {
    /// What of the value of an option no other user of the machine shall read.
    enum Secret: Sendable {
        case nothing
        case all
        /// The value of a header field whose name says that it is a secret.
        case field
        /// The user and password of a URL.
        case login
        /// What stands behind the name of a file and a colon.
        case passphrase

        /// Nil if the value has no secret in it.
        func place(in value: String) -> Range<Int>? {
            let bytes = Array(value.utf8)
            switch self {
            case .nothing: return nil
            case .all: return 0..<bytes.count
            case .field:
                guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
                    SecretNames.containsField(String(decoding: bytes[..<colon], as: UTF8.self))
                else { return nil }
                return colon + 1..<bytes.count
            case .passphrase:
                return FileWithPassphrase(value).passphrase.map { bytes.count - $0.utf8.count..<bytes.count }
            case .login:
                let start = bytes.firstRange(of: "//".utf8)?.upperBound ?? 0
                let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
                return bytes[start..<end].lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
            }
        }
    }
}
