import AFNetworking
import Foundation
import Testing

/// Looks up what the article about coming from AFNetworking says.
@Suite struct ComingFromAFNetworkingTests {
    private static let here = URL(fileURLWithPath: #filePath)
    private static let root = (1...4).reduce(here) { url, _ in url.deletingLastPathComponent() }

    /// Sections about types that may not exist yet; their rows count once this type exists.
    private static let awaited = [
        "Request serialization": "HTTPRequestSerializer", "Sessions": "URLSessionManager",
        "Notifications of sessions": "URLSessionManager", "Reachability": "NetworkReachabilityManager",
    ]

    private struct Row {
        let section: String
        let old: String
        let new: String?
        let remark: String
    }

    private static func article() throws -> String {
        let file = root.appendingPathComponent("Sources/AFNetworking/AFNetworking.docc/ComingFromAFNetworking.md")
        return try String(contentsOf: file, encoding: .utf8)
    }

    private static func rows() throws -> [Row] {
        try article().components(separatedBy: "\n### ").flatMap { section in
            let lines = section.split(separator: "\n")
            return try lines.filter { $0.hasPrefix("| `") }.map { try row($0, in: String(lines[0])) }
        }
    }

    private static func row(_ line: Substring, in section: String) throws -> Row {
        let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        try #require(cells.count == 5, "\(line)")
        let names = cells.map { $0.trimmingCharacters(in: ["`"]) }
        return Row(section: section, old: names[1], new: names[2].isEmpty ? nil : names[2], remark: cells[3])
    }

    /// Read once.
    private static let surface = Result {
        let modules = ["AFSerialization", "AFNetworking", "AFNetworkingXML", "AFImages"]
        return try SourceSurface(folders: modules.map { root.appendingPathComponent("Sources/\($0)") })
    }

    @Test func `every name in the middle is declared in our sources`() throws {
        let surface = try Self.surface.get()

        let missing = try Self.rows()
            .filter { row in Self.awaited[row.section].map { surface.declares($0) } ?? true }
            .compactMap(\.new).filter { !surface.declares($0) }

        #expect(missing == [])
    }

    /// The same name without `AF`, as the article says it.
    private static func withoutPrefix(_ name: String) -> String {
        name.replacing(/^AF(?=[A-Z])/, with: "")
    }

    @Test func `a name without a row is declared without its prefix, and no row says only that`() throws {
        let (surface, rows) = (try Self.surface.get(), try Self.rows())

        #expect(namesWithoutRow.count > 190)
        #expect(namesWithoutRow.filter { !surface.declares(Self.withoutPrefix($0)) } == [])
        #expect(namesWithoutRow.intersection(rows.map(\.old)) == [])
        #expect(rows.filter { $0.remark.isEmpty && $0.new == Self.withoutPrefix($0.old) }.map(\.old) == [])
    }

    @Test func `a row without a name says what to do instead, and no name has two rows`() throws {
        let rows = try Self.rows()

        #expect(rows.count > 120)
        #expect(rows.filter { $0.new == nil && $0.remark.isEmpty }.map(\.old) == [])
        #expect(Dictionary(grouping: rows, by: \.old).filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    @Test func `every old name that compiles has a row, or is the same without its prefix`() throws {
        let old = try Self.surface.get().topLevelNames
            .map { $0.prefix { $0 != "(" } }
            .filter { $0.wholeMatch(of: /k?AF[A-Z].*/) != nil }
        let rows = Set(try Self.rows().map { $0.old.prefix { $0 != "(" } })

        #expect(old.contains("AFHTTPResponseSerializer"))
        #expect(old.filter { !rows.contains($0) && !namesWithoutRow.contains(String($0)) } == [])
    }

    @Test func `code with old names runs`() throws {
        let serializer = AFJSONResponseSerializer(readingOptions: .fragmentsAllowed)
        serializer.acceptableContentTypes?.insert("application/vnd.api+json")
        serializer.removesKeysWithNullValues = true

        let url = try #require(URL(string: "http://a.test/"))
        let type = ["Content-Type": "application/vnd.api+json"]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: type)
        let object = try serializer.object(for: response, data: Data(#"[null,"a"]"#.utf8))

        #expect(object as? [String] == ["a"])
    }

    @Test func `the reader of sources sees what is public, and nothing else`() throws {
        let folder = try ScratchFolder()
        try folder.write(
            "a.swift",
            Array(
                """
                // public func comment() {}
                public class A: B, @unchecked Sendable {
                    public init?(a: Int, _ b: (Int, Int) -> Void = { _, _ in }) { let inner = "}" }
                    open class func make<T: C>(with x: [T], _ y: T) -> Self { struct D {} }
                    public private(set) var p = 1
                    let q = "{"
                    public enum E: Int { case x = 1, y; case z(Int) }
                }
                open class B { public func inherited() {} ; func hidden() {} }
                public protocol P { var r: Int { get } }
                extension Notification.Name { public static let n = Notification.Name("n") }
                public func free(_ a: Int) {}
                func hiddenToo() {}
                """.utf8
            )
        )
        let surface = try SourceSurface(folders: [folder.url])

        for name in [
            "A", "A.init(a:_:)", "A.make(with:_:)", "A.p", "A.E", "A.E.x", "A.E.y", "A.E.z", "A.inherited()", "P.r",
            "Notification.Name.n", "free(_:)",
        ] {
            #expect(surface.declares(name), "\(name)")
        }
        for name in ["comment()", "A.q", "inner", "A.D", "D", "A.hidden()", "hiddenToo()", "A.make(with:)", "C"] {
            #expect(!surface.declares(name), "\(name)")
        }
    }
}
