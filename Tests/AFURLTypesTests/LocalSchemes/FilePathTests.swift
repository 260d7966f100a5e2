import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Paths of file URLs")
struct FilePathTests {
    private func path(_ text: String) throws(FilePath.Flaw) -> String {
        try text.withUTF8Bytes { bytes throws(FilePath.Flaw) in try FilePath.path(bytes) }
    }

    @Test(arguments: [
        ("file:///a/b", "/a/b"), ("FILE:///a", "/a"), ("file:/a", "/a"), ("file://localhost/a", "/a"),
        ("file://LocalHost/a", "/a"), ("file:///a%20b%25", "/a b%"), ("file:///%c3%a9", "/\u{E9}"),
        ("file:///a?query", "/a"), ("file:///a#fragment", "/a"), ("file:///a%3Fb%23", "/a?b#"), ("file:////a", "//a"),
        ("file:///", "/"), ("file:///a/../b/.", "/a/../b/."),
    ])
    func `a URL that names a file of this machine is read`(text: String, expected: String) throws {
        #expect(try path(text) == expected)
    }

    @Test(
        arguments: [
            ("file://host/a", .host), ("file://localhost.evil/a", .host), ("file://user@localhost/a", .host),
            ("file://localhost:80/a", .host), ("file://%6Cocalhost/a", .host), ("file:a", .relative),
            ("file:", .relative),
            ("file://", .relative), ("file://localhost", .relative), ("file:?/a", .relative),
            ("file:///a%2Fb", .encoding),
            ("file:///a%2fb", .encoding), ("file:///a%00b", .encoding), ("file:///a%", .encoding),
            ("file:///a%zz", .encoding), ("file:///%ff", .encoding),
        ] as [(String, FilePath.Flaw)]
    )
    func `a URL that names no file of this machine is refused`(text: String, flaw: FilePath.Flaw) {
        #expect(throws: flaw) { try path(text) }
    }

    @Test(arguments: [
        ("/a/b.txt", "text/plain"), ("/a/B.HTML", "text/html"), ("/x.tar.gz", "application/gzip"),
        ("/a.txt/b", "application/octet-stream"), ("/.json", "application/octet-stream"),
        ("/a.", "application/octet-stream"), ("/", "application/octet-stream"),
        ("/a.unknown", "application/octet-stream"),
    ])
    func `the media type goes by the extension`(path: String, type: String) {
        #expect(FileMediaTypes.type(ofFileAt: path) == type)
    }
}
