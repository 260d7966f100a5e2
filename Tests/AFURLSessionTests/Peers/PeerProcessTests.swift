import AFFaults
import Glibc

extension LoopbackTests.Alone {
    @Test func `M11 an upload of two hundred megabytes from a file takes next to no memory`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("PUT", "/1") { .text("\($0.bodyByteCount)") }
            let folder = try ScratchFolder()
            let file = try folder.sparseFile(of: 200 << 20)
            let session = URLSession.loopback()
            _ = try await session.outcome(of: server.url("/warm"))
            let before = ProcessUse.peakBytes

            let (data, _) = try await session.upload(for: URLRequest("PUT", server.url("/1")), fromFile: file)

            #expect(String(decoding: data, as: UTF8.self) == "\(200 << 20)")
            // The server in this process keeps the first 16 MiB.
            #expect(ProcessUse.peakBytes - before < 45 << 20)
        }
    }

    @Test func `M16 a stream that cannot be read fails its task, and not the process`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("PUT", "/1", .text("x"))
            let folder = try ScratchFolder()
            let session = URLSession.loopback()
            for missing in [folder.url.appendingPathComponent("missing"), folder.url] {
                for stream in [InputStream(fileAtPath: missing.path), InputStream(url: missing)] {
                    var request = URLRequest("PUT", server.url("/1"))
                    request.httpBodyStream = stream
                    let outcome = try await session.outcome(of: request)
                    #expect(outcome.error != nil && outcome.reason == .body, "\(outcome)")
                }
            }
            let broken = BareStream(data: Data())
            var request = URLRequest("PUT", server.url("/1"))
            request.httpBodyStream = broken
            #expect(try await session.outcome(of: request).reason == .body)
        }
    }

    @Test func `M17 a cookie with an expiry is written to no disk unless the caller names a file`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            for name in ["HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
                setenv(name, folder.url.path, 1)
            }
            let server = try TestServer()
            server.route("GET", "/1", ServerReply.text("x").header("Set-Cookie", "a=1; Max-Age=100000; Path=/"))
            for configuration in [URLSessionConfiguration.default, .ephemeral] {
                let session = URLSession(configuration: configuration)
                #expect(try await session.outcome(of: server.url("/1")).text == "x")
                #expect(configuration.httpCookieStorage?.cookies?.count == 1)
            }
            #expect(try await URLSession.shared.outcome(of: server.url("/1")).text == "x")
            // Twice as long as a store with a file would wait.
            usleep(1_000_000)

            let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
            #expect(!paths.contains { $0.lowercased().contains("cookie") }, "\(paths)")
        }
    }

    @Test func `M19 fifty slow requests need one thread of ours, and six connections`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/held", ServerReply.text("late").held(until: "go"))
            let session = URLSession.loopback()
            let outcomes = Outcomes()
            for _ in 1...50 {
                session.dataTask(with: server.url("/held"), completionHandler: outcomes.handler).resume()
            }
            try await server.waitForConnections(6)
            await session.settled()

            let threads = LeakCheck.entries(of: "/proc/self/task").count {
                ProcessUse.text(of: "/proc/self/task/\($0)/comm").hasPrefix("AFNetworking")
            }
            #expect(threads == 1 && server.acceptedConnections == 6)
            server.signal("go")
            #expect(try await outcomes.wait(for: 50).allSatisfy { $0.text == "late" })
            #expect(server.acceptedConnections == 6)
        }
    }

    @Test func `M20 keys are not logged because the environment says so`() async {
        await #expect(processExitsWith: .success) {
            let folder = try ScratchFolder()
            setenv("SSLKEYLOGFILE", folder.url.path + "/keys", 1)
            let site = try SecuredSite()

            #expect(try await site.session().outcome(of: site.server.url("/hello")).text == "hello")

            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        }
    }

    @Test func `M12 no other HTTP client is loaded into the process`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            _ = try await URLSession.shared.outcome(of: server.url("/1"))
            let loaded = ProcessUse.text(of: "/proc/self/maps")
            #expect(loaded.contains("libssl.so"))
            for name in ["libcurl", "libldap", "librtmp", "libssh2", "FoundationNetworking"] {
                #expect(!loaded.contains(name), "\(name)")
            }
        }
    }
}

/// A program's own stream, which overrides no more than it must.
private final class BareStream: InputStream {
    override func open() {}
    override func close() {}
    override var streamStatus: Stream.Status { .notOpen }
    override var hasBytesAvailable: Bool { true }
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int { -1 }
}
