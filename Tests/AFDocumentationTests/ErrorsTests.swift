import AFNetworking
import AFURLSession
import Foundation
import Testing

/// The article with all errors, held against the sources that make them.
@Suite struct ErrorsTests {
    private struct Row {
        let cells: [String]

        var words: [String] { cells.map { $0.trimmingCharacters(in: ["`"]) } }
    }

    private static func page() throws -> String {
        try Repository.text("Sources/AFNetworking/AFNetworking.docc/Errors.md")
    }

    private static func rows(under heading: String) throws -> [Row] {
        let section = try #require(
            try page().components(separatedBy: "### \(heading)\n").last?.components(separatedBy: "\n### ").first
        )
        return section.split(separator: "\n").filter { $0.hasPrefix("|") }.dropFirst(2).map { line in
            let cells = line.dropFirst().split(separator: "|", omittingEmptySubsequences: false)
            return Row(cells: cells.map { $0.trimmingCharacters(in: .whitespaces) })
        }
    }

    private struct Case: Hashable {
        let reason: String
        let detail: String
        let code: Int
    }

    /// A reason stands in its first row only.
    private static func cases() throws -> [Case] {
        var reason = ""
        return try rows(under: "Reasons and details").map { row in
            if !row.words[0].isEmpty { reason = row.words[0] }
            return Case(reason: reason, detail: row.words[1], code: try #require(Int(row.words[2])))
        }
    }

    @Test func `every reason and every detail has a row`() throws {
        let source = try Repository.text("Sources/AFURLSession/Errors/LoadFailure+Reason.swift")
        let reasons = source.matches(of: /= Reason\(rawValue: "(\w+)"\)/).map { String($0.output.1) }
        let details = source.matches(of: /= Detail\(rawValue: "(\w+)"\)/).map { String($0.output.1) }
        let cases = try Self.cases()

        #expect(reasons.count > 15 && details.count > 60)
        #expect(Set(cases.map(\.reason)) == Set(reasons))
        #expect(Set(cases.map(\.detail)).subtracting([""]) == Set(details))
        #expect(Set(cases).count == cases.count)
    }

    /// The kinds of failures, as their table in the sources has them.
    private static func kinds() throws -> [(reason: String, detail: String, code: String)] {
        try Repository.text("Sources/AFURLSession/Errors/Table/LoadFailure+Kind.swift")
            .matches(of: /Self\(\.(\w+)(?:, detail: \.(\w+))?, code: \.(\w+)\)/)
            .map { (String($0.output.1), $0.output.2.map(String.init) ?? "", String($0.output.3)) }
    }

    @Test func `every kind of failure has a row, with its code`() throws {
        let codes = try Self.rows(under: "Codes of NSURLErrorDomain").map { ($0.words[1], Int($0.words[0])) }
        let numbers = Dictionary(uniqueKeysWithValues: codes)
        let kinds = try Self.kinds().map { kind in
            Case(reason: kind.reason, detail: kind.detail, code: try #require(numbers[kind.code] ?? nil))
        }

        #expect(kinds.count > 80)
        #expect(Set(kinds).symmetricDifference(try Self.cases()) == [])
    }

    @Test func `every code that is made has a row, with its name`() throws {
        let rows = try Self.rows(under: "Codes of NSURLErrorDomain")
        let codes = Set(rows.compactMap { Int($0.words[0]) })
        let names = Set(rows.map { $0.words[1] })
        let made = try Repository.files(in: "Sources", endingWith: ".swift").map(Repository.text)
            .flatMap { $0.matches(of: /URLError\(\.(\w+)/).map { String($0.output.1) } }

        #expect(made.count > 5 && Set(made).subtracting(names) == [])
        #expect(Set(try Self.cases().map(\.code)).subtracting(codes) == [])
    }

    @Test func `every exit code of afnet has a row`() throws {
        let source = try Repository.text("Sources/afnet/Failures/ExitCode.swift")
        let codes = source.matches(of: /case \w+ = (\d+)/).compactMap { Int($0.output.1) }
        let rows = try Self.rows(under: "Exit codes of afnet").compactMap { Int($0.words[0]) }

        #expect(codes.count > 20)
        #expect(Set(codes).subtracting(rows) == [] && Set(rows).count == rows.count)
    }

    @Test func `an error is looked into and decided about`() async throws {
        let session = URLSession(configuration: .ephemeral)
        let url = try #require(URL(string: "ftp://example.com/"))
        let done = Heard<String>()
        func use(_ data: Data) { done.add("used") }
        func tryLater() { done.add("later") }
        func reportPin(_ error: URLError) { done.add("pin") }
        func report(_ error: URLError) { done.add("error \(error.errorCode)") }

        do {
            let (data, _) = try await session.data(from: url)
            use(data)
        } catch let error as URLError {
            print(error.errorCode, error.loadFailure?.reason.rawValue ?? "", error.loadFailure?.detail?.rawValue ?? "")
            print(error.loadFailure.map(String.init(describing:)) ?? error.localizedDescription)
        }
        do {
            _ = try await session.data(from: url)
        } catch let error as URLError {
            switch error.code {
            case .timedOut, .networkConnectionLost, .cannotConnectToHost, .notConnectedToInternet: tryLater()
            case .cancelled: break
            case .serverCertificateUntrusted where error.loadFailure?.detail == .policy: reportPin(error)
            default: report(error)
            }
        }

        #expect(done.all == ["error -1002"])
    }
}
