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
            var lines = InputLines(.standardInput, longest: Self.longestLine)
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

/// One line of `afnet cookies`: what is stored in a jar, and which cookies it is asked for.
struct CookieTrial: Decodable {
    private struct Step: Decodable {
        enum Operation: String, Decodable { case set, get }

        let op: Operation
        let url: String
        let lines: [String]?
        /// In seconds since 1970.
        let now: Double
    }

    struct Answer: Encodable {
        let id: String
        let cookies: [String]
    }

    private let id: String
    private let steps: [Step]

    /// The answer of an empty jar.
    var answer: Answer {
        let jar = HTTPCookieStorage()
        var cookies: [String] = []
        for step in steps {
            let url = URL(string: step.url, encodingInvalidCharacters: false)
            let now = Date(timeIntervalSince1970: step.now)
            switch step.op {
            case .set:
                if let url { jar.storeCookies(fromFields: step.lines ?? [], of: url, at: now) }
            case .get: cookies.append(url.flatMap { jar.cookieField(for: $0, at: now) } ?? "")
            }
        }
        return Answer(id: id, cookies: cookies)
    }
}

/// Reads lines, each as soon as it is complete.
struct InputLines {
    private let source: Descriptor
    private let longest: Int
    private var waiting = Data()
    private var isAtEnd = false

    init(_ source: Descriptor, longest: Int) {
        self.source = source
        self.longest = longest
    }

    /// The next line, without its line break; nil at the end.
    mutating func next() throws(SystemFailure) -> Data? {
        var searched = waiting.startIndex
        while true {
            if let end = waiting[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { waiting = Data(waiting[end...].dropFirst()) }
                return waiting[..<end]
            }
            searched = waiting.endIndex
            if isAtEnd {
                defer { waiting = Data() }
                return waiting.isEmpty ? nil : waiting
            }
            if waiting.count > longest { throw SystemFailure(code: EFBIG) }
            let more = try source.readSome()
            isAtEnd = more.isEmpty
            waiting += more
        }
    }
}
