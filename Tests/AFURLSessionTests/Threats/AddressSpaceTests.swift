import Glibc

extension LoopbackTests.Alone {
    /// What the process has of addresses, in bytes.
    private static var addressSpace: UInt {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").first.flatMap { UInt($0) } ?? 0) * UInt(getpagesize())
    }

    @Test(.enabled(if: addressSpace < 1 << 40, "sanitizers take terabytes of addresses for themselves"))
    func `M-02 with 64 MiB left, a bomb, an endless head and endless chunks are errors of their tasks`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let piece = [UInt8](repeating: 0x61, count: 65536)
            let bomb = Coded.bomb(gibibytes: 1)
            server.route("GET", "/hello", .text("hello"))
            server.route("GET", "/bomb", .data(bomb).header("Content-Encoding", "gzip"))
            server.route("GET", "/chunks") { _ in .stream(.generated { _ in piece }) }
            let session = URLSession.loopback { $0.maximumBodyInMemory = 8 << 20 }
            // Threads and tables are made now.
            for path in ["/hello", "/hello"] {
                #expect(try await session.outcome(of: server.url(path)).text == "hello")
            }
            let most = LoopbackTests.Alone.addressSpace + 64 << 20
            var limit = rlimit(rlim_cur: most, rlim_max: most)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
            try #require(mmap(nil, 65 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)

            for path in ["/bomb", "/chunks"] {
                let outcome = try await session.outcome(of: server.url(path))
                #expect(outcome.code == -1103 && outcome.reason == .limit, "\(path): \(outcome)")
            }
            let endless = [ScriptStep](repeating: .send(bytes: piece), count: 2048)
            server.script(on: .next, steps: [.expectRequest, .send("HTTP/1.1 200 OK\r\nX: ")] + endless)
            let outcome = try await session.outcome(of: server.url("/head"))
            #expect(outcome.code == -1103 && outcome.reason == .limit, "\(outcome)")

            #expect(try await session.outcome(of: server.url("/hello")).text == "hello")
        }
    }
}
