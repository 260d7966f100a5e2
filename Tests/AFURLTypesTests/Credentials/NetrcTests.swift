import AFWire
import Foundation
import Testing

@testable import AFURLTypes

@Suite("Netrc files")
struct NetrcTests {
    private static func host(_ name: String) throws -> Endpoint.Host { try Endpoint(scheme: .https, host: name).host }

    private static func found(_ text: String, _ name: String, user: String? = nil) throws -> String? {
        let credential = try NetrcFile(text: text).credential(for: host(name), user: user.map { Array($0.utf8) })
        return credential.map { "\($0.user ?? "") \($0.password ?? "")" }
    }

    @Test(
        "entries are read in every arrangement",
        arguments: [
            "machine a.test login u password p", "machine a.test\n  login u\n  password p\n",
            "machine a.test\tpassword p\r\nlogin u\r\n", "# remark\nmachine a.test # remark\nlogin u password p",
            "machine \"a.test\" login \"u\" password \"p\"", "machine A.TEST. login u account x password p",
            "machine a.test user u passwd p", "default login d password d\nmachine a.test login u password p",
            "machine b.test login b password b machine a.test login u password p machine a.test login v password q",
            "machine b.test\nmacdef init\nmachine a.test login no password no\n\nmachine a.test login u password p",
            "machine a.test login u password p macdef last\nmachine c.test",
            "machine a.test login u machine a.test login u password p", "\n\n machine a.test login u password p \n\n",
        ]
    )
    func arrangements(text: String) throws {
        #expect(try Self.found(text, "a.test") == "u p")
    }

    @Test("a password may hold anything")
    func passwords() throws {
        #expect(try Self.found("machine a.test login u password #x\"y", "a.test") == "u #x\"y")
        #expect(try Self.found("machine a.test login u password \"a b\\\"c\\\\d\"", "a.test") == "u a b\"c\\d")
        #expect(try Self.found("machine a.test login u password é", "a.test") == "u é")
        #expect(try Self.found("machine a.test login u password \"\"", "a.test") == "u ")
        #expect(try Self.found("machine a.test login machine password login", "a.test") == "machine login")
    }

    @Test("an entry is for exactly its host, and a default entry for none")
    func hosts() throws {
        let text = "machine a.test login u password p\nmachine [::1] login v password q\ndefault login d password d"
        for other in ["b.test", "sub.a.test", "xa.test", "a.test.b.test", "test", "127.0.0.1"] {
            #expect(try Self.found(text, other) == nil, "\(other)")
        }
        #expect(try Self.found(text, "[::1]") == "v q")
        #expect(try Self.found("machine a.test:443 login u password p", "a.test") == nil)
        #expect(try Self.found("machine a.test login u\nmachine b.test password p", "a.test") == nil)
        #expect(try Self.found("machine a.test login u\nmachine b.test password p", "b.test") == nil)
    }

    @Test("a user of the URL chooses among the entries of the host")
    func users() throws {
        let text = "machine a.test login u password p machine a.test login v password q"
        #expect(try Self.found(text, "a.test", user: "v") == "v q")
        #expect(try Self.found(text, "a.test", user: "w") == nil)
    }

    @Test("a URL chooses by its host, and by its user if it has one")
    func urls() throws {
        let file = try NetrcFile(
            text: """
                machine a.test login u password p
                machine a.test login "v w" password q
                machine [::1] login x password r
                """
        )
        let found = [
            ("http://a.test:8080/x", "p"), ("https://v%20w@A.test/", "q"), ("http://v%20w:other@a.test", "q"),
            ("http://[::1]/", "r"), ("wss://:@a.test/", "p"), ("http://none@a.test", nil), ("http://%FF@a.test", nil),
            ("http://b.test", nil), ("http://sub.a.test", nil), ("a.test", nil), ("file:///a", nil),
        ]
        for (text, password) in found {
            let url = try #require(URL(string: text))
            #expect(file.credential(for: url)?.password == password, "\(text)")
        }
    }

    @Test(
        "what is not understood is an error with its line, and without its content",
        arguments: [
            ("login canary", 1), ("machine", 1), ("\n\nmachine a.test\nlogin", 4), ("machine a.test\ncanary x", 2),
            ("machine a.test password \"canary", 1), ("machine a.test password \"canary\n\"", 1),
            ("machine a.test\nlogin u\npassword a\u{0}canary", 3), ("password canary", 1),
            ("machine a.test password \"canary\\", 1),
        ]
    )
    func malformed(text: String, line: Int) throws {
        let error = #expect(throws: NetrcError.self) { try NetrcFile(text: text) }
        #expect(error?.line == line)
        #expect(error.map { !"\($0) \(String(reflecting: $0))".contains("canary") } == true)
    }

    @Test("random texts never trap", arguments: [1, 2] as [UInt64])
    func randomTexts(seed: UInt64) {
        let pieces = [
            "machine", "login", "password", "default", "macdef", " ", "\n", "\"", "\\", "#", "a.test", "\r", "\t", "é",
        ]
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...16, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            _ = try? NetrcFile(text: text)
        }
    }

    // MARK: - The file

    private static func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("netrc-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    @Test("only a file of the user's own, that no other user can read, is used", arguments: [0o600, 0o400, 0o700])
    func privateFile(permissions: Int) throws {
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("netrc")
            try Data("machine a.test login u password canary".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
            let netrc = try NetrcFile(contentsOf: file)
            #expect(try netrc.credential(for: Self.host("a.test"), user: nil)?.password == "canary")
            var dumped = ""
            dump(netrc, to: &dumped)
            #expect(!"\(netrc) \(String(reflecting: netrc)) \(dumped)".contains("canary"))
        }
    }

    @Test("a file that others can read or change is refused", arguments: [0o644, 0o640, 0o604, 0o620, 0o602, 0o610])
    func openFile(permissions: Int) throws {
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("netrc")
            try Data("machine a.test login u password p".utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
            let error = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: file) }
            #expect(error?.fault == .openToOthers && error?.description.contains("0600") == true)
        }
    }

    @Test("T-FIL-29 what is no file, missing or far too large is refused")
    func otherFiles() throws {
        try Self.withFolder { folder in
            let missing = folder.appendingPathComponent("missing")
            let error = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: missing) }
            #expect(error?.path == missing.path && error?.description.contains("No such file") == true)
            let noFile = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: folder) }
            #expect(noFile?.fault == .notAFile && noFile?.line == nil)
            let web = try #require(URL(string: "https://a.test/netrc"))
            let notHere = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: web) }
            #expect(notHere?.fault == .notAFile)

            let large = folder.appendingPathComponent("large")
            try Data(repeating: 0x20, count: (1 << 20) + 1).write(to: large)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: large.path)
            let refusal = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: large) }
            #expect(refusal?.fault == .tooLarge)

            let entry = Array("machine a.test login u password p".utf8)
            try Data(entry + [UInt8](repeating: 0x20, count: (1 << 20) - entry.count)).write(to: large)
            #expect(try NetrcFile(contentsOf: large).credential(for: Self.host("a.test"), user: nil) != nil)

            let empty = folder.appendingPathComponent("empty")
            try Data().write(to: empty)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: empty.path)
            _ = try NetrcFile(contentsOf: empty)
        }
    }

    @Test func `a file of bytes that are no text is an error with its line`() throws {
        try Self.withFolder { folder in
            let file = folder.appendingPathComponent("netrc")
            try Data(Array("machine a.test\nlogin u password ".utf8) + [0xFF]).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            let error = #expect(throws: NetrcError.self) { try NetrcFile(contentsOf: file) }
            #expect(error?.fault == .malformed(line: 2) && error?.line == 2 && error?.path == file.path)
        }
    }

    @Test func `an entry is kept as long as the session`() throws {
        let netrc = try NetrcFile(text: "machine a.test login u password p")
        #expect(try netrc.credential(for: Self.host("a.test"), user: nil)?.persistence == .forSession)
    }

    @Test func `an error says which file is wrong, in which way, and what to do`() {
        let expected: [(NetrcError.Fault, String)] = [
            (.notAFile, "the netrc file /a\\n is not a regular file; name one by a file URL"),
            (.unreadable("No such file"), "the netrc file /a\\n cannot be read: No such file"),
            (.openToOthers, "the netrc file /a\\n is not yours alone; set its owner, and its permissions to 0600"),
            (.tooLarge, "the netrc file /a\\n is larger than 1 MiB; this cannot be a list of passwords"),
            (.malformed(line: 7), "the netrc file /a\\n is not understood in line 7; correct that line"),
        ]
        for (fault, text) in expected {
            let error = NetrcError(fault, at: "/a\n")
            #expect(error.description == text && error.errorDescription == text)
        }
        #expect(NetrcError(.tooLarge, at: nil).description.hasPrefix("the netrc text is larger"))
    }

    @Test func `a description has the number of entries that can be used`() throws {
        let text = "machine a.test login u password p machine b.test login v machine c.test login w password q"
        #expect(try NetrcFile(text: text).description == "NetrcFile(2 entries)")
    }
}
