import AFNetworkingTesting
import Foundation
import Testing

/// A server program of another project, run for one test and ended with it.
final class ServerProcess {
    let port: Int
    private let process = Process()
    private let folder: URL

    /// `openssl s_server` with a certificate. It serves one connection at a time.
    static func openSSL(_ site: IssuedCertificate, _ arguments: [String], sending chain: Bool = true) async throws
        -> ServerProcess
    {
        let server = try ServerProcess("openssl")
        let files = try site.write(to: server.folder)
        server.process.arguments =
            ["s_server", "-accept", "127.0.0.1:\(server.port)", "-cert", files.certificate.path]
            + ["-key", files.privateKey.path]
            + (chain && !site.issuers.isEmpty ? ["-cert_chain", files.chain.path] : [])
            + arguments
        try server.process.run()
        // A connection to see whether it listens would count as one.
        try await server.wait { server.output.contains("ACCEPT") }
        return server
    }

    /// nginx with a configuration for its one https server.
    static func nginx(_ site: IssuedCertificate, _ directives: String) async throws -> ServerProcess {
        let server = try ServerProcess("nginx")
        let files = try site.write(to: server.folder)
        let folder = server.folder.path
        let configuration = """
            \(getuid() == 0 ? "user root;" : "")
            worker_processes 1; daemon off; pid \(folder)/pid; error_log \(folder)/error.log;
            events { worker_connections 256; }
            http {
              access_log off; client_max_body_size 64m; client_body_temp_path \(folder)/temp;
              proxy_temp_path \(folder)/temp; fastcgi_temp_path \(folder)/temp;
              uwsgi_temp_path \(folder)/temp; scgi_temp_path \(folder)/temp;
              server {
                listen 127.0.0.1:\(server.port) ssl;
                ssl_certificate \(files.chain.path); ssl_certificate_key \(files.privateKey.path);
                root \(folder);
                location = /handshake { return 200 "$ssl_protocol $ssl_session_reused $ssl_client_verify"; }
                location = /connection { return 200 "$connection $connection_requests"; }
                \(directives)
              }
            }
            """
        try Data(configuration.utf8).write(to: server.folder.appendingPathComponent("nginx.conf"))
        server.process.arguments = ["-p", folder, "-c", "\(folder)/nginx.conf", "-e", "\(folder)/error.log"]
        try server.process.run()
        try await server.wait { server.accepts }
        return server
    }

    /// Apache, which takes the coding from the bodies of requests and passes them on to a server.
    static func apache(to server: URL) async throws -> ServerProcess {
        let apache = try ServerProcess("apache2")
        let folder = apache.folder.path
        let modules = ["mpm_event", "authz_core", "filter", "deflate", "proxy", "proxy_http"]
        let configuration = """
            ServerName localhost
            ServerRoot \(folder)
            PidFile \(folder)/pid
            ErrorLog \(folder)/error.log
            Listen 127.0.0.1:\(apache.port)
            \(modules.map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }.joined(separator: "\n"))
            <Location "/">
              SetInputFilter DEFLATE
              ProxyPass "\(server.absoluteString)"
            </Location>
            """
        let file = apache.folder.appendingPathComponent("apache.conf")
        try Data(configuration.utf8).write(to: file)
        // One process: workers would outlive it, and hold open what tells that it has ended.
        apache.process.arguments = ["-f", file.path, "-X"]
        try apache.process.run()
        try await apache.wait { apache.accepts }
        return apache
    }

    /// lighttpd, which gives each connection so many KiB in a second. It says what files are known by if it knows their type.
    static func lighttpd(serving files: URL, rate: Int) async throws -> ServerProcess {
        let server = try ServerProcess("lighttpd")
        let configuration = """
            server.document-root = "\(files.path)"
            server.bind = "127.0.0.1"
            server.port = \(server.port)
            server.errorlog = "\(server.folder.path)/error.log"
            connection.kbytes-per-second = \(rate)
            mimetype.assign = (".zip" => "application/zip")
            """
        let file = server.folder.appendingPathComponent("lighttpd.conf")
        try Data(configuration.utf8).write(to: file)
        server.process.arguments = ["-D", "-f", file.path]
        try server.process.run()
        try await server.wait { server.accepts }
        return server
    }

    /// A program for Node, which is given the port to listen on.
    static func node(_ program: String) async throws -> ServerProcess {
        let server = try ServerProcess("node")
        let file = server.folder.appendingPathComponent("server.js")
        try Data(program.utf8).write(to: file)
        server.process.arguments = [file.path, "\(server.port)"]
        try server.process.run()
        try await server.wait { server.accepts }
        return server
    }

    /// A tinyproxy of its own, to be ended in the middle of things.
    static func tinyproxy() async throws -> ServerProcess {
        let server = try ServerProcess("tinyproxy")
        let file = server.folder.appendingPathComponent("tinyproxy.conf")
        try Data("Port \(server.port)\nListen 127.0.0.1\nMaxClients 20\n".utf8).write(to: file)
        server.process.arguments = ["-d", "-c", file.path]
        try server.process.run()
        try await server.wait { server.accepts }
        return server
    }

    private init(_ program: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("af-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("temp"),
            withIntermediateDirectories: true
        )
        port = try FreePort.any()
        let output = folder.appendingPathComponent("output")
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = process.standardOutput
        process.standardInput = Pipe()
        process.executableURL = try ServerProcess.find(program)
    }

    deinit {
        stop()
        try? FileManager.default.removeItem(at: folder)
    }

    func stop() {
        // Not waited for: that would hold up a thread all tests need.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// What it has printed so far.
    var output: String {
        let data = FileManager.default.contents(atPath: folder.appendingPathComponent("output").path)
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    func url(_ path: String = "/") -> URL { URL(string: "https://127.0.0.1:\(port)\(path)")! }

    func put(_ data: Data, at name: String) throws {
        try data.write(to: folder.appendingPathComponent(name))
    }

    private var accepts: Bool {
        guard let socket = try? PlainSocket(connectedTo: port) else { return false }
        socket.close()
        return true
    }

    private func wait(_ isReady: () -> Bool) async throws {
        for _ in 0..<400 where !isReady() {
            try #require(process.isRunning, "the server ended: \(output)")
            try await Task.sleep(for: .milliseconds(10))
        }
        try #require(isReady(), "the server does not start: \(output)")
    }

    /// Whether a test of this program should run: where all servers are required, it fails without it.
    static func has(_ program: String) -> Bool { Server.areAllRequired || place(of: program) != nil }

    private static func find(_ program: String) throws -> URL { try #require(place(of: program)) }

    private static func place(of program: String) -> URL? {
        let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin:/sbin"
        let places = path.split(separator: ":").map { URL(fileURLWithPath: String($0)).appendingPathComponent(program) }
        return places.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}
