import Glibc

/// The words of the command line. The system passes bytes, which need not be UTF-8; `String` would replace invalid
/// bytes without an error.
package enum CommandWords {
    /// The words as bytes, without the name of the program.
    static var given: [[UInt8]] {
        let words = UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
        return words.dropFirst().compactMap { word in
            word.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) }
        }
    }

    /// The words as text. The error does not show the word that it refuses, which may be a password.
    package static func text(of words: [[UInt8]]) throws(ArgumentError) -> [String] {
        var texts: [String] = []
        for word in words {
            guard let text = String(validating: word, as: UTF8.self) else {
                let option = texts.last.flatMap(Self.option(of:))
                let place = option.map { ", the value of \($0.name)," } ?? ""
                throw .usage("argument \(texts.count + 1)\(place) is not UTF-8: \(advice(option))")
            }
            texts.append(text)
        }
        return texts
    }

    /// Overwrites secrets among the words that the system gave this process: every user of the machine can read them in the
    /// list of processes.
    static func blank(_ secrets: [WordQueue.Place]) {
        for secret in secrets {
            // The first word is the name of the program.
            guard let word = CommandLine.unsafeArgv[secret.word + 1] else { continue }
            for place in secret.bytes { word[place] = CChar(UInt8(ascii: " ")) }
        }
    }

    /// The option whose value is the word after this one.
    private static func option(of word: String) -> CommandOption? {
        guard word.hasPrefix("-"), let letter = word.last else { return nil }
        let isLong = word.hasPrefix("--")
        if !isLong, word.dropFirst().dropLast().contains(where: { OptionTable.standard[$0]?.takesValue ?? true }) {
            return nil
        }
        let option =
            isLong ? OptionTable.standard.named(String(word.dropFirst(2)))?.option : OptionTable.standard[letter]
        return option.flatMap { $0.takesValue ? $0 : nil }
    }

    private static func advice(_ option: CommandOption?) -> String {
        switch option?.completion {
        case .files, .folders: "give it a name that is, or a link to it (ln -s)"
        case .nothing, .words, nil: "bytes for a body go in a file (--data-binary @FILE), and in a URL as %XX"
        }
    }
}
