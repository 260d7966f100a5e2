import AFURLSession
import Foundation
import Glibc

/// `afnet cookies`: shows which cookies a jar keeps and sends, for programs that compare clients.
struct CookiesCommand {
    private static let longestLine = 16 << 20
    private let words: [String]
    private let console = Console(isSilent: false)

    init(_ words: [String]) {
        self.words = words
    }

    /// Answers each line before it reads the next.
    func run() async -> ExitCode {
        guard words.isEmpty else {
            console.report("cookies takes no arguments: it reads lines of JSON from standard input")
            return .usage
        }
        var number = 0
        do throws(SystemFailure) {
            var lines = InputLines(source: .standardInput, longest: Self.longestLine)
            while let line = try lines.next() {
                number += 1
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) { continue }
                guard let answer = try? Self.answer(to: line) else {
                    console.report("cookies: line \(number) is no question: see afnet help cookies")
                    return .usage
                }
                try Descriptor.standardOutput.write(answer)
            }
            return .done
        } catch {
            console.report("cookies: \(error.text)")
            return .cannotWrite
        }
    }

    private static func answer(to line: Data) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(JSONDecoder().decode(CookieTrial.self, from: line).answer) + Data("\n".utf8)
    }
}
