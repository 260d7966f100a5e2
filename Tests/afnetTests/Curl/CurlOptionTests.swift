import AFFaults
import Foundation
import Testing
import afnet

/// The table of curl's options.
@Suite struct CurlOptionTests {
    private static let curl = "/usr/bin/curl"

    @Test func `each option is had or refused, once`() throws {
        let spellings = CurlOptions.rows.flatMap { $0.spelling.components(separatedBy: ", ") }
        #expect(Set(spellings).count == spellings.count && spellings.count > 290)
        for row in CurlOptions.rows where !row.spelling.contains("--next") {
            for name in row.spelling.components(separatedBy: ", ") {
                let isLetter = !name.hasPrefix("--")
                #expect(OptionNames.all.contains(isLetter ? "\(name), " : name) == (row.refusal == nil), "\(name)")
            }
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: curl)))
    func `the table has every option of the installed curl, with its letter`() throws {
        let environment = ProcessInfo.processInfo.environment
        let answer = try ChildProcess.answer(of: Self.curl, ["--help", "all"], environment: environment)
        let lines = String(decoding: answer.output, as: UTF8.self).split(separator: "\n").dropFirst()
        let known = Set(CurlOptions.rows.map(\.spelling))
        #expect(lines.count > 200)
        for line in lines {
            let words = line.split { $0 == " " || $0 == "," }
            let spelling = words.prefix { $0.hasPrefix("-") }.joined(separator: ", ")
            #expect(known.contains(spelling), "\(spelling)")
        }
    }

    @Test func `the page has the table`() throws {
        let text = try CurlPage.text
        #expect(text.contains("\n\(CurlOptions.page)"), "the page needs this table:\n\(CurlOptions.page)")
    }

    @Test func `the help has every option`() throws {
        let text = try #require(HelpText.text(on: "curl"))
        for row in CurlOptions.rows {
            #expect(text.contains(row.spelling.components(separatedBy: ", ").last ?? "-"), "\(row.spelling)")
        }
    }
}

/// The page about curl's options.
enum CurlPage {
    static var text: String {
        get throws {
            let place = "../../../Sources/AFNetworking/AFNetworking.docc/CurlOptions.md"
            let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(place)
            return try String(contentsOf: file, encoding: .utf8)
        }
    }
}
