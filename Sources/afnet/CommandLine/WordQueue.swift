import AFURLSession

/// The words of a command line that are still to be read, and where the secrets stand among those that were.
package struct WordQueue {
    /// Bytes of one word.
    package struct Place: Hashable, Sendable {
        /// The index of the word.
        package let word: Int
        package let bytes: Range<Int>
    }

    private let words: [String]
    private var next = 0
    /// Where the secrets are that were read so far.
    package private(set) var secrets: [Place] = []

    package init(_ words: [String]) {
        self.words = words
    }

    var isEmpty: Bool { next == words.count }
    var first: String? { isEmpty ? nil : words[next] }

    @discardableResult
    mutating func pop() -> String? {
        guard let word = first else { return nil }
        next += 1
        return word
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
        guard next > 0, let place = secret.place(in: value) else { return }
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
            case .login:
                let start = bytes.firstRange(of: "//".utf8)?.upperBound ?? 0
                let end = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count
                return bytes[start..<end].lastIndex(of: UInt8(ascii: "@")).map { start..<$0 }
            }
        }
    }
}
