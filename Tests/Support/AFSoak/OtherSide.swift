import AFFaults
import AFImages
import AFNetworkingTesting
import AFURLSession
import Foundation
import Glibc

/// Where the servers are, and what it takes to trust them.
struct Addresses: Codable, Sendable {
    var plain: UInt16 = 0
    var secured: UInt16 = 0
    /// Has a certificate of an authority that the sessions do not trust.
    var impostor: UInt16 = 0
    /// Ends every handshake with an alert.
    var broken: UInt16 = 0
    /// Says nothing in the handshake.
    var silent: UInt16 = 0
    var proxy: UInt16 = 0
    /// Wants a password that no session has.
    var strictProxy: UInt16 = 0
    var socks: UInt16 = 0
    /// A port on which no server listens.
    var closed: UInt16 = 0
    var authority = Data()
    /// The one authority's certificate is pinned where pins must match, the other's where they must not.
    var foreignAuthority = Data()
}

/// The other side: servers and proxies in a process of their own, so that what they remember is not taken for ours.
final class OtherSide: Sendable {
    /// It has ended before its time.
    struct Gone: Error, CustomStringConvertible {
        let description = "the process of the servers has ended"
    }

    private let process: pid_t
    private let commands: FileHandle
    private let answers: FileHandle
    let addresses: Addresses

    /// Starts this program once more, as the other side.
    init() throws {
        let (input, output) = (Pipe(), Pipe())
        process = try ChildProcess.start(
            "/proc/self/exe",
            ["serve"],
            environment: ProcessInfo.processInfo.environment,
            input: input.fileHandleForReading.fileDescriptor,
            output: output.fileHandleForWriting.fileDescriptor,
            errors: 2
        )
        try output.fileHandleForWriting.close()
        try input.fileHandleForReading.close()
        (commands, answers) = (input.fileHandleForWriting, output.fileHandleForReading)
        addresses = try JSONDecoder().decode(Addresses.self, from: OtherSide.line(from: answers))
    }

    private static func line(from answers: FileHandle) throws -> Data {
        var line = Data()
        while line.last != 0x0A {
            guard let more = try answers.read(upToCount: 1), !more.isEmpty else { throw Gone() }
            line += more
        }
        return line
    }

    /// Requests it has kept are let go of.
    func forget() throws { try commands.write(contentsOf: Data("forget\n".utf8)) }

    /// All servers end, and others take their places. Returns when these are there.
    func restarted() async throws {
        try commands.write(contentsOf: Data("restart\n".utf8))
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { [answers] in
                continuation.resume(with: Result { _ = try OtherSide.line(from: answers) })
            }
        }
    }

    /// Ends it.
    func stop() {
        try? commands.close()
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
    }

    // MARK: - In the other process

    /// What the process does all its life: until its input ends.
    static func serve() throws {
        var servers: Servers? = try Servers(Identities(), at: Addresses())
        if let addresses = servers?.addresses {
            try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(addresses) + Data("\n".utf8))
        }
        while let command = readLine() {
            switch command {
            case "forget": servers?.forget()
            case "restart":
                guard let former = servers else { continue }
                servers = nil
                former.stop()
                servers = try Servers(former.identities, at: former.addresses)
                try FileHandle.standardOutput.write(contentsOf: Data("ready\n".utf8))
            default: throw CocoaError(.coderReadCorrupt)
            }
        }
        servers?.stop()
    }
}

/// Who the servers are.
private struct Identities {
    let authority: CertificateAuthority
    let foreignAuthority: CertificateAuthority
    let site: IssuedCertificate
    let impostor: IssuedCertificate

    init() throws {
        authority = try CertificateAuthority("Soak")
        foreignAuthority = try CertificateAuthority("Foreign")
        site = try authority.issue(for: "localhost", "127.0.0.1")
        impostor = try foreignAuthority.issue(for: "localhost", "127.0.0.1")
    }
}

/// A port on which no server listens, and which no other process gets: it is bound.
private enum ClosedPort {
    static let number: UInt16 = {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                _ = bind(descriptor, address, length)
                _ = getsockname(descriptor, address, &length)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }()
}

/// One set of servers.
private struct Servers {
    let identities: Identities
    let addresses: Addresses
    private let servers: [TestServer]
    private let proxies: [TestProxy]

    init(_ identities: Identities, at wanted: Addresses) throws {
        self.identities = identities
        var options = TestServer.Options()
        options.storedTranscriptLimit = 0
        options.storedBodyLimit = 1 << 20
        options.backlog = 4096
        func server(_ port: UInt16, _ tls: ServerTLS? = nil) throws -> TestServer {
            try TestServer(on: .ipv4Loopback(port: port), tls: tls, options: options)
        }
        func proxy(_ kind: TestProxy.Kind, _ port: UInt16, _ rules: ProxyRules = ProxyRules()) throws -> TestProxy {
            try TestProxy(kind, on: .ipv4Loopback(port: port), rules: rules, options: options)
        }
        let plain = try server(wanted.plain)
        let secured = try server(wanted.secured, ServerTLS(identities.site))
        for server in [plain, secured] { server.install(.soak, .redirects, .compression, .digestAuthentication) }
        for server in [plain, secured] { server.install(.basicAuthentication) }
        let impostor = try server(wanted.impostor, ServerTLS(identities.impostor))
        var faulty = ServerTLS(identities.site)
        faulty.handshakeFault = .alert(40)
        let broken = try server(wanted.broken, faulty)
        faulty.handshakeFault = .stall(after: 0)
        let silent = try server(wanted.silent, faulty)
        var rules = ProxyRules()
        rules.authentication = .password(user: "ann", password: "a password no session has")
        proxies = try [
            proxy(.http, wanted.proxy), proxy(.http, wanted.strictProxy, rules), proxy(.socks5, wanted.socks),
        ]
        servers = [plain, secured, impostor, broken, silent] + proxies.map(\.server)
        addresses = Addresses(
            plain: plain.port,
            secured: secured.port,
            impostor: impostor.port,
            broken: broken.port,
            silent: silent.port,
            proxy: proxies[0].port,
            strictProxy: proxies[1].port,
            socks: proxies[2].port,
            closed: ClosedPort.number,
            authority: Data(identities.authority.der),
            foreignAuthority: Data(identities.foreignAuthority.der)
        )
    }

    func forget() { for server in servers { server.forgetRequests() } }
    func stop() { for server in servers { server.stop() } }
}

extension RouteSet {
    /// What answers well, and what goes wrong.
    fileprivate static var soak: RouteSet {
        RouteSet { server in
            let twelve = ServerReply.text("twelve bytes")
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/bye", ServerReply.text("bye").keepAlive(false))
            server.route("GET", "/json", .json(#"{"greeting": "hello"}"#))
            server.route("POST", "/echo") { .data($0.body) }
            for (path, isChunked) in [("bytes", false), ("chunked", true)] {
                server.route("GET", "/\(path)/:count/:seed") { request in
                    let numbers = ["count", "seed"].map { request.parameters[$0].flatMap { Int($0) } ?? 0 }
                    let reply = ServerReply.data(Pattern.bytes(numbers[0], seed: numbers[1]))
                    return isChunked ? reply.chunked(1000) : reply
                }
            }
            server.route("GET", "/cached/:key") { request in
                ServerReply.data(Pattern.bytes(2000, seed: Int(request.parameters["key"] ?? "") ?? 0))
                    .header("Cache-Control", "max-age=600")
            }
            server.route("GET", "/cookie/:name") { request in
                let name = request.parameters["name"] ?? ""
                return .text("hello").header("Set-Cookie", "c\(name)=1; Max-Age=\(name.hasSuffix("0") ? 0 : 600)")
            }
            server.route("GET", "/reset-before-head", twelve.resetting(after: 0, of: .message))
            server.route("GET", "/reset-in-head", twelve.resetting(after: 10, of: .message))
            server.route("GET", "/reset-in-body", twelve.resetting(after: 6))
            server.route("GET", "/cut", twelve.closing(after: 6))
            server.route("GET", "/stall-head", twelve.stalling(after: 0, of: .message))
            server.route("GET", "/stall-body", twelve.stalling(after: 6))
            server.route("GET", "/no-http", ServerReply.raw("<html>\r\n\r\n").keepAlive(false))
            server.route("GET", "/framing", ServerReply.raw("HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello"))
            server.route(
                "GET",
                "/chunks",
                ServerReply.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
            )
            server.route("POST", "/refused", ServerReply.status(413).withoutReadingBody().keepAlive(false))
            server.route("POST", "/reset", ServerReply.text("").withoutReadingBody().resetting(after: 0, of: .message))
            server.route("GET", "/image") { _ in
                let image = try Image(width: 16, height: 16, pixels: Pattern.bytes(1024, seed: 1))
                return try .data(image.pngData(), type: "image/png")
            }
            server.route("GET", "/no-image", .data(Pattern.bytes(500, seed: 2), type: "image/png"))
            server.route("GET", "/file") { request in
                let reply = ServerReply.file(Pattern.bytes(3000, seed: 3), entityTag: "\"3\"", to: request)
                return request.headers["Range"] == nil ? reply.closing(after: 2000) : reply
            }
            server.route("GET", "/stalling-file") { request in
                .file(Pattern.bytes(3000, seed: 3), entityTag: "\"3\"", to: request).stalling(after: 2000)
            }
        }
    }
}
