import AFNetworking
import AFNetworkingTesting
import Foundation

/// The other side: a server, an impostor with the same name, and the authorities that vouch for them.
struct Site: Sendable {
    static let host = "localhost"
    /// The server breaks off here when it is asked for the whole film.
    static let cut = film / 2 + 1
    private static let film = 8 << 20

    /// Our authority, and one that has nothing to do with us. Sessions trust both.
    let authority: CertificateAuthority
    let otherAuthority: CertificateAuthority
    /// The server's, and ours as a client.
    let certificate: IssuedCertificate
    let clientCertificate: IssuedCertificate
    /// Pinned as well, and kept elsewhere.
    let spareKey: CertificateKey
    let film: Data
    let server: TestServer
    let impostor: TestServer

    init() throws {
        authority = try CertificateAuthority("Our Authority")
        otherAuthority = try CertificateAuthority("Some Other Authority")
        certificate = try authority.issue(for: Self.host)
        clientCertificate = try authority.issueClient("demo client")
        spareKey = try CertificateKey()
        film = try Self.randomBytes(Self.film)
        server = try TestServer(tls: Self.tls(certificate))
        impostor = try TestServer(tls: Self.tls(otherAuthority.issue(for: Self.host)))
        impostor.route("GET", "/greeting", .json(#"{"text": "hello from an impostor"}"#))
        addRoutes()
    }

    func stop() {
        server.stop()
        impostor.stop()
    }

    /// The server asks every client for a certificate.
    private static func tls(_ certificate: IssuedCertificate) -> ServerTLS {
        var tls = ServerTLS(certificate)
        tls.clientCertificates = .requested
        return tls
    }

    static func randomBytes(_ count: Int) throws -> Data {
        let source = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/urandom"))
        return try source.read(upToCount: count) ?? Data()
    }

    // MARK: - What it answers

    private func addRoutes() {
        let (film, cut) = (film, Self.cut)
        server.route("GET", "/greeting", .json(#"{"text": "hello"}"#))
        server.route(
            "GET",
            "/departures",
            .events(
                "event: delayed\ndata: 10:42",
                "event: delayed\ndata: 10:50",
                "event: departed\ndata: 10:51"
            )
        )
        let chat = ServerWebSocketOptions(subprotocols: ["chat.v1"], compression: DeflateParameters())
        server.route(
            "GET",
            "/chat",
            .webSocket(chat) { socket in
                while case .text(let text)? = try socket.receive() { try socket.send(text: text.uppercased()) }
            }
        )
        server.route("POST", "/orders") { request in
            let order: Order = try request.json()
            return try .json(encoding: Receipt(number: 7, total: order.count * 3)).status(201)
        }
        server.route("POST", "/photos") { request in
            let photo = Self.file(in: request.body)
            return try .json(encoding: Delivery(bytes: photo.count, checksum: photo.checksum))
        }
        server.route("GET", "/film") { request in
            let reply = ServerReply.file(film, entityTag: "\"film-1\"", to: request)
            return request.headers["Range"] == nil ? reply.closing(after: cut) : reply
        }
        server.route("GET", "/timetable", .json(#"{"next": "10:42"}"#).header("Cache-Control", "max-age=60"))
    }

    /// The file of a form that has one.
    private static func file(in form: Data) -> Data {
        guard let name = form.range(of: Data("filename=".utf8)),
            let head = form.range(of: Data("\r\n\r\n".utf8), in: name.upperBound..<form.endIndex),
            let end = form.range(of: Data("\r\n--".utf8), options: .backwards, in: head.upperBound..<form.endIndex)
        else { return Data() }
        return form[head.upperBound..<end.lowerBound]
    }
}

struct Order: Codable, Equatable {
    var item: String
    var count: Int
}

struct Receipt: Codable, Equatable {
    var number: Int
    var total: Int
}

/// What has arrived of a file.
struct Delivery: Codable, Equatable {
    var bytes: Int
    var checksum: String
}

extension Data {
    /// FNV-1a over words of eight bytes. It tells files apart, and does not prove that a file is genuine.
    var checksum: String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ word: UInt64) { hash = (hash ^ word) &* 0x100_0000_01B3 }
        withUnsafeBytes { bytes in
            let whole = bytes.count & ~7
            for place in stride(from: 0, to: whole, by: 8) {
                add(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            }
            for byte in bytes[whole...] { add(UInt64(byte)) }
        }
        return String(format: "%016lx", hash)
    }
}
