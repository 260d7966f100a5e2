import AFURLSession
import Foundation
import Testing

/// The server that `Tests/Support/Nginx/with-nginx` started, as its environment describes it.
enum Nginx: String {
    case main = "AFNET_INTEROP_NGINX"
    case closingAfterTwo = "AFNET_INTEROP_NGINX_TWICE"
    case closingAfterIdleSecond = "AFNET_INTEROP_NGINX_BRIEF"

    static var isServing: Bool { value(of: main.rawValue) != nil }

    /// True under `./dev interop`, which must not pass because its tests were left out.
    static var isRequired: Bool { value(of: "AFNET_INTEROP") != nil }

    static var socketPath: String { get throws { try #require(value(of: "AFNET_INTEROP_NGINX_UNIX")) } }

    func url(_ path: String) throws -> URL {
        let base = try #require(Self.value(of: rawValue))
        return try #require(URL(string: base + path))
    }

    static func url(_ path: String) throws -> URL { try main.url(path) }

    /// The bytes of a file the server serves.
    static func file(_ name: String) throws -> Data {
        let folder = try #require(value(of: "AFNET_INTEROP_NGINX_FILES"))
        return try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name))
    }

    private static func value(of name: String) -> String? { ProcessInfo.processInfo.environment[name] }
}

@Suite(.enabled(if: Nginx.isRequired))
struct InteropTierTests {
    @Test func `./dev interop has a server to talk to`() {
        #expect(Nginx.isServing)
    }

    @Test(.enabled(if: Server.areAllRequired), arguments: Server.allCases)
    func `continuous integration has every server`(server: Server) {
        // Some systems do not let dante ask for passwords.
        #expect(server.isServing || server == .lockedSOCKS)
    }
}

/// Everything here needs the server, so plain `swift test` leaves it out.
@Suite(.enabled(if: Nginx.isServing), .timeLimit(.minutes(1)))
enum NginxTests {}
