import AFFaults
import AFTLS
import CAFLinux
import Glibc

extension LoopbackTests.Alone {
    // MARK: - Handshakes that do not come to their end

    @Test func `T-TLS-70 a handshake cut or reset after any byte fails with its phase and leaves nothing open`() async {
        await #expect(processExitsWith: .success) {
            for version in TLSVersion.allCases {
                let faults = stride(from: 0, to: 640, by: 3).map { count -> ServerTLS.HandshakeFault in
                    count % 2 == 0 ? .close(after: count) : .reset(after: count)
                }
                try await BrokenHandshakes.run(version, faults) { outcome, fault in
                    guard outcome.code == -1005, let failure = outcome.error?.loadFailure else { return false }
                    return failure.phase == .tls && failure.reason == .lost
                }
            }
        }
    }

    @Test func `T-TLS-70 a handshake that stands still ends with the time of the request`() async {
        await #expect(processExitsWith: .success) {
            for version in TLSVersion.allCases {
                let faults = [0, 1, 4, 5, 6, 60, 127, 128, 400, 640].map { ServerTLS.HandshakeFault.stall(after: $0) }
                try await BrokenHandshakes.run(version, faults, timeout: 0.4) { outcome, fault in
                    outcome.code == -1001 && outcome.error?.loadFailure?.phase == .tls
                }
            }
        }
    }

    /// For a hundred thousand of them there is `./dev slopes "the handshake breaks"`.
    @Test func `T-TLS-82 three hundred handshakes that fail leave nothing behind`() async {
        await #expect(processExitsWith: .success) {
            let faults: [ServerTLS.HandshakeFault] = [.close(after: 100), .reset(after: 300), .alert(40), .alert(80)]
            for (version, isTrusted) in [(TLSVersion.v1_2, true), (.v1_3, true), (.v1_2, false), (.v1_3, false)] {
                try await BrokenHandshakes.run(version, faults, isTrusted: isTrusted) { outcome, _ in
                    outcome.code != nil
                }
            }
            try await BrokenHandshakes.refuse(600)
            var growths: [Int] = []
            // What a busy machine makes grow, more threads and their arenas, it makes grow once.
            while growths.count < 5, growths.last ?? .max >= 40 {
                let before = ProcessUse.heapBytes
                try await BrokenHandshakes.refuse(300)
                growths.append((ProcessUse.heapBytes - before) / 300)
            }
            #expect(growths.last ?? .max < 40, "\(growths) bytes for each handshake")
        }
    }

    @Test func `T-TLS-69 a server that resets before any write raises no signal`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            for version in TLSVersion.allCases {
                let faults = stride(from: 0, to: 900, by: 90).map { ServerTLS.HandshakeFault.reset(after: $0) }
                try await BrokenHandshakes.run(version, faults) { outcome, _ in
                    outcome.code == -1005 || outcome.text == "hello"
                }
                let site = try SecuredSite()
                let session = site.session { $0.speak(version) }
                for count in [0, 1, 1000, 20_000, 100_000, 1_000_000] {
                    site.server.script(.expectHead, .receive(count), .reset)
                    let request = URLRequest("POST", site.server.url("/x"), body: Data(count: 8 << 20))
                    #expect(try await session.outcome(of: request).code == -1005)
                }
                // One that has announced its end, and is written to nevertheless.
                site.server.script(.expectHead, .announceEnd, .receive(10), .reset)
                let request = URLRequest("POST", site.server.url("/x"), body: Data(count: 8 << 20))
                #expect(try await session.outcome(of: request).code == -1005)
            }
        }
    }

    // MARK: - Sockets that fail

    @Test func `T-TLS-67 every read and write of a secured connection may block or be short`() async {
        await #expect(processExitsWith: .success) {
            for call in [CAF_CALL_RECV, CAF_CALL_SEND] {
                try await FaultScenario.enumerate(.fails(EAGAIN), of: call, mayFail: 0, limit: 40, isSecured: true)
                do {
                    try await FaultScenario.enumerate(.isShort(1), of: call, mayFail: 0, limit: 40, isSecured: true)
                }
            }
        }
    }

    @Test func `T-TLS-67, 82 a secured socket that breaks anywhere fails one task at most`() async {
        await #expect(processExitsWith: .success) {
            for call in [CAF_CALL_RECV, CAF_CALL_SEND] {
                try await FaultScenario.enumerate(.fails(ECONNRESET), of: call, mayFail: 1, limit: 40, isSecured: true)
            }
        }
    }

    @Test func `T-TLS-67 bytes are right however the sockets under TLS dribble`() async {
        await #expect(processExitsWith: .success) {
            for version in TLSVersion.allCases {
                let site = try SecuredSite()
                site.server.route("POST", "/echo") { .data($0.body).chunked(13) }
                var tls = site.tls
                tls.speak(version)
                let configuration = tls
                for (percent, length) in [(0, 1), (50, 1), (20, 7), (80, 100), (50, 1000), (90, 0)] {
                    FaultInjector.disturb(percent: Int32(percent), length: length, seed: UInt64(percent + length))
                    defer { FaultInjector.stop() }
                    let body = Data((0..<(length == 1 ? 1500 : 20_000)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
                    let echoes = try await OwnWorld.run({ $0.tls = configuration }) { session in
                        var echoes: [Data?] = []
                        for _ in 1...2 {
                            let request = URLRequest("POST", site.server.url("/echo"), body: body)
                            echoes.append(try await session.outcome(of: request).data)
                        }
                        session.invalidateAndCancel()
                        return echoes
                    }
                    #expect(echoes == [body, body], "\(version): \(percent) % \(length) bytes")
                }
            }
            #expect(FaultInjector.badCloses == 0)
        }
    }
}

/// Handshakes against a server that breaks them off, each in another way.
private enum BrokenHandshakes {
    static func run(
        _ version: TLSVersion,
        _ faults: [ServerTLS.HandshakeFault],
        timeout: TimeInterval = 10,
        isTrusted: Bool = true,
        _ isRight: @escaping (Outcome, ServerTLS.HandshakeFault) -> Bool
    ) async throws {
        _ = try await OwnWorld.leakCheck()
        let site = try SecuredSite()
        let certificate = try site.authority.issue(for: "127.0.0.1")
        var tls = site.tls
        tls.speak(version)
        if !isTrusted { tls.anchors = .certificates([]) }
        let configuration = tls
        let before = LeakCheck.now
        let setUp: (URLSessionConfiguration) -> Void = { settings in
            settings.tls = configuration
            settings.timeoutIntervalForRequest = timeout
        }
        try await OwnWorld.run(setUp) { session in
            for fault in faults {
                var tls = ServerTLS(certificate)
                tls.handshakeFault = fault
                try site.server.use(tls: tls)
                let outcome = try await session.outcome(of: site.server.url("/hello"))
                #expect(isRight(outcome, fault), "\(version), \(fault): \(outcome)")
            }
            // A server that behaves is none the worse for it.
            try site.server.use(tls: ServerTLS(certificate))
            let outcome = try await session.outcome(of: site.server.url("/hello"))
            #expect((outcome.text == "hello") == isTrusted, "\(outcome)")
            session.invalidateAndCancel()
        }
        try await site.server.waitUntilIdle()
        if let excess = before.excess() { Issue.record("\(version): left open: \(excess)") }
    }

    /// Fails so many handshakes by refusing the server.
    static func refuse(_ count: Int) async throws {
        let site = try SecuredSite()
        let session = site.session { $0.anchors = .certificates([]) }
        let refusals = Watched(0)
        for start in stride(from: 0, to: count, by: 30) {
            for _ in 1...30 {
                session.dataTask(with: site.server.url("/hello")) { _, _, error in
                    if (error as? URLError)?.code.rawValue == -1203 { refusals.change { $0 += 1 } }
                }.resume()
            }
            try await refusals.wait { $0 == start + 30 }
        }
        session.invalidateAndCancel()
        await session.settled()
        site.server.stop()
    }
}
