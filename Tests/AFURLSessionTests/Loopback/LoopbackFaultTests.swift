import AFFaults
import CAFLinux
import Glibc

extension LoopbackTests.Alone {
    @Test func `T-RES-19 an interrupted system call is repeated, and a close is not`() async {
        await #expect(processExitsWith: .success) {
            let calls = [
                CAF_CALL_SOCKET, CAF_CALL_CONNECT, CAF_CALL_RECV, CAF_CALL_SEND, CAF_CALL_GETSOCKOPT,
                CAF_CALL_SETSOCKOPT, CAF_CALL_GETSOCKNAME, CAF_CALL_EPOLL_CREATE, CAF_CALL_EPOLL_CTL,
                CAF_CALL_EPOLL_WAIT, CAF_CALL_EVENTFD, CAF_CALL_CLOSE,
            ]
            for call in calls { try await FaultScenario.enumerate(.fails(EINTR), of: call, mayFail: 0, limit: 60) }
        }
    }

    @Test func `T-RES-22 T-RES-23 any call that fails fails one task at most and leaves nothing open`() async {
        await #expect(processExitsWith: .success) {
            let resources = [EMFILE, ENFILE, ENOMEM, ENOBUFS, EACCES, EPERM, EAFNOSUPPORT, EPROTONOSUPPORT]
            for code in resources { try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_SOCKET, mayFail: 1) }
            let connecting = [
                ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EADDRNOTAVAIL, EACCES, EPERM, ETIMEDOUT, EAGAIN, ENOBUFS,
            ]
            for code in connecting { try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_CONNECT, mayFail: 1) }
            for code in [EMFILE, ENOMEM] {
                try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_EPOLL_CREATE, mayFail: 1)
                try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_EVENTFD, mayFail: 1)
            }
            for code in [ENOMEM, ENOSPC] {
                try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_EPOLL_CTL, mayFail: 1)
            }
            try await FaultScenario.enumerate(.fails(ENOBUFS), of: CAF_CALL_GETSOCKOPT, mayFail: 1)
            for code in [EINVAL, ENOPROTOOPT] {
                try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_SETSOCKOPT, mayFail: 0)
            }
            try await FaultScenario.enumerate(.fails(ENOBUFS), of: CAF_CALL_GETSOCKNAME, mayFail: 0)
        }
    }

    @Test func `T-RES-23 a socket that breaks at any read or write fails one task at most`() async {
        await #expect(processExitsWith: .success) {
            for code in [ECONNRESET, ETIMEDOUT, ENOMEM, EIO] {
                try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_RECV, mayFail: 1, limit: 30)
            }
            for code in [EPIPE, ECONNRESET, ENOMEM] {
                try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_SEND, mayFail: 1, limit: 30)
            }
        }
    }

    @Test func `T-RES-17 T-RES-24 a clock, a thread or a close that fails costs at most one task`() async {
        await #expect(processExitsWith: .success) {
            try await FaultScenario.enumerate(.fails(EINVAL), of: CAF_CALL_CLOCK, mayFail: 0, limit: 30)
            try await FaultScenario.enumerate(.fails(EAGAIN), of: CAF_CALL_THREAD, mayFail: 1)
            for code in [EIO, ENOSPC] {
                try await FaultScenario.enumerate(.fails(code), of: CAF_CALL_CLOSE, mayFail: 0)
            }
        }
    }

    @Test func `T-RES-20 every read and write may be short, blocked, or want buffers`() async {
        await #expect(processExitsWith: .success) {
            for call in [CAF_CALL_RECV, CAF_CALL_SEND] {
                try await FaultScenario.enumerate(.fails(EAGAIN), of: call, mayFail: 0, limit: 40)
                for count in [1, 7] {
                    try await FaultScenario.enumerate(.isShort(count), of: call, mayFail: 0, limit: 40)
                }
            }
            try await FaultScenario.enumerate(.fails(ENOBUFS), of: CAF_CALL_SEND, mayFail: 0, limit: 40)
        }
    }

    @Test func `T-RES-20 T-RES-24 bytes are right however the sockets dribble, and no close is wrong`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("POST", "/echo") { .data($0.body).chunked(13) }
            for (percent, length) in [(0, 1), (50, 1), (20, 7), (80, 100), (50, 1000), (90, 0)] {
                FaultInjector.disturb(percent: Int32(percent), length: length, seed: UInt64(percent + length))
                defer { FaultInjector.stop() }
                let body = Data((0..<(length == 1 ? 1500 : 20_000)).map { UInt8(truncatingIfNeeded: $0 &* 31) })

                try await OwnWorld.run { session in
                    for _ in 1...3 {
                        let outcome = try await session.outcome(of: URLRequest("POST", server.url("/echo"), body: body))
                        #expect(outcome.data == body, "\(percent) % \(length) bytes: \(outcome.code ?? 0)")
                    }
                    session.invalidateAndCancel()
                }
            }
            #expect(FaultInjector.badCloses == 0)
        }
    }

    @Test func `T-RES-22 without descriptors a task fails, others go on, and all is well afterwards`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            let other = try TestServer()
            for server in [server, other] { server.route("GET", "/hello", .text("hello")) }
            let session = URLSession.loopback()
            _ = try await session.data(from: server.url("/hello"))
            var limit = rlimit(rlim_cur: 256, rlim_max: 256)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            var taken: [Int32] = []
            while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }

            let start = ProcessUse.cpuMicroseconds
            let starved = try await session.outcome(of: other.url("/hello"))
            let lucky = try await session.outcome(of: server.url("/hello"))
            #expect(starved.code == -1004 && starved.error?.loadFailure?.errno == EMFILE)
            #expect(lucky.text == "hello")
            #expect(ProcessUse.cpuMicroseconds - start < 1_000_000)
            for descriptor in taken { close(descriptor) }

            #expect(try await session.outcome(of: other.url("/hello")).text == "hello")
        }
    }

    @Test func `T-RES-21 a peer that breaks off an upload raises no signal`() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let server = try TestServer()
            server.script(on: .every, .expectHead, .receive(10), .reset)
            for _ in 1...20 {
                let request = URLRequest("POST", server.url(), body: Data(count: 4 << 20))
                #expect(try await URLSession.loopback().outcome(of: request).code == -1005)
            }
        }
    }

    @Test func `T-RES-36 the resolver's errors are told apart`() async {
        await #expect(processExitsWith: .success) {
            let url = try #require(URL(string: "http://api.test/"))
            let cases = [
                (EAI_NONAME, -1003), (EAI_AGAIN, -1006), (EAI_MEMORY, -1006), (EAI_SYSTEM, -1006), (EAI_FAIL, -1006),
                (EAI_FAMILY, -1006), (0, -1003),
            ]
            for (answer, code) in cases {
                LookupGate.answer(answer)
                let outcome = try await URLSession.loopback().outcome(of: url)
                #expect(
                    outcome.code == code && outcome.error?.loadFailure?.phase == .resolving,
                    "\(answer): \(outcome)"
                )
            }
            FaultInjector.stop()
        }
    }

    @Test func `T-RES-36 a name service that was busy is asked once more, and not again`() async {
        await #expect(processExitsWith: .success) {
            let server = try TestServer()
            server.route("GET", "/hello", .text("hello"))
            FaultInjector.plan(.answers(Int(EAI_AGAIN)), of: CAF_CALL_GETADDRINFO, 1)
            #expect(
                try await URLSession.loopback().outcome(of: server.url("/hello", host: "localhost")).text == "hello"
            )
            #expect(FaultInjector.hasFired && FaultInjector.calls(CAF_CALL_GETADDRINFO) == 2)

            FaultInjector.watch()
            LookupGate.answer(EAI_AGAIN)
            let url = try #require(URL(string: "http://api.test/"))
            #expect(try await URLSession.loopback().outcome(of: url).code == -1006)
            #expect(FaultInjector.calls(CAF_CALL_GETADDRINFO) == 2)
            FaultInjector.stop()
        }
    }

    @Test func `T-RES-34 T-RES-35 slow lookups keep four threads at most and time out or are cancelled`() async {
        await #expect(processExitsWith: .success) {
            let before = try await OwnWorld.leakCheck()
            LookupGate.hold()
            LookupGate.answer(EAI_NONAME)
            try await OwnWorld.run({ $0.timeoutIntervalForRequest = 0.5 }) { session in
                let outcomes = Outcomes()
                let tasks = try (0..<1000).map { number in
                    let url = try #require(URL(string: "http://slow-\(number).test/"))
                    return session.dataTask(with: url, completionHandler: outcomes.handler)
                }
                for task in tasks { task.resume() }
                for task in tasks.suffix(500) { task.cancel() }

                let all = try await outcomes.wait(for: 1000)
                #expect(all.count { $0.code == -999 } == 500 && all.count { $0.code == -1001 } == 500)
                #expect((1...4).contains(LookupGate.mostHeld))
                LookupGate.release()
                // The next request is served: the threads did not hang.
                let next = try await session.outcome(of: try #require(URL(string: "http://next.test/")))
                #expect(next.code == -1003)
                session.finishTasksAndInvalidate()
                try await eventually { Self.resolverThreads == 0 }
            }
            let excess = before.excess()
            #expect(excess == nil, "\(excess ?? "")")
            FaultInjector.stop()
        }
    }

    private static var resolverThreads: Int {
        LeakCheck.entries(of: "/proc/self/task").count {
            ProcessUse.text(of: "/proc/self/task/\($0)/comm").hasPrefix("AFNet resolver")
        }
    }
}
