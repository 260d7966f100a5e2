import AFTLS

extension SecuredTests {
    /// Many tasks at once.
    struct Crowds {
        private static let matrix = TLSVersion.allCases.flatMap { version in [1, 2, 3].map { (version, UInt64($0)) } }

        @Test("two hundred tasks, some of them cancelled, each end once", arguments: matrix)
        func crowd(version: TLSVersion, seed: UInt64) async throws {
            let site = try SecuredSite()
            site.server.route("POST", "/echo") { .data($0.body) }
            site.server.route("GET", "/n/:n") { .text($0.parameters["n"] ?? "") }
            site.server.route("GET", "/bye/:n") { ServerReply.text($0.parameters["n"] ?? "").keepAlive(false) }
            let session = site.session { $0.speak(version) }
            var random = Steps(seed: seed)
            let ends = Watched<[Int: [Outcome]]>([:])
            var expected: [Int: Data] = [:]
            var tasks: [URLSessionDataTask] = []
            for number in 0..<200 {
                let body = Data((0..<random.next(60_000)).map { UInt8(truncatingIfNeeded: $0 &+ number) })
                let request =
                    switch number % 3 {
                    case 0: URLRequest("POST", site.server.url("/echo"), body: body)
                    case 1: URLRequest(url: site.server.url("/n/\(number)"))
                    default: URLRequest(url: site.server.url("/bye/\(number)"))
                    }
                expected[number] = number % 3 == 0 ? body : Data("\(number)".utf8)
                tasks.append(
                    session.dataTask(with: request) { data, response, error in
                        ends.change { $0[number, default: []].append(Outcome(data, response, error)) }
                    }
                )
            }

            for (number, task) in tasks.enumerated() {
                task.resume()
                if random.next(4) == 0 { tasks[random.next(number + 1)].cancel() }
                if random.next(10) == 0 { await Task.yield() }
            }

            let outcomes = try await ends.wait("200 ends", seconds: 30) { $0.count == 200 }
            await session.settled()
            #expect(ends.value.values.allSatisfy { $0.count == 1 })
            for (number, outcome) in outcomes {
                let isRight = outcome[0].code == -999 || outcome[0].data == expected[number]
                #expect(isRight, "\(number): \(outcome[0].code ?? 0)")
            }
            #expect(outcomes.values.contains { $0[0].error == nil })
            session.invalidateAndCancel()
            let connections = try await site.server.waitUntilIdle()
            #expect(connections.allSatisfy { $0.tls?.offeredEarlyData == false })
        }

        @Test(
            "a delegate that is behind holds up its server, T-TLS-66",
            arguments: TLSVersion.allCases
        )
        func backPressure(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let size = 7_500_000
            site.server.route("GET", "/big") { _ in .stream(.repeating("0123456789abcde", count: size)) }
            let gate = DispatchSemaphore(value: 0)
            let isFirst = Lock(true)
            let log = EventLog { event, _ in
                guard case .data = event else { return }
                let isGated = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                guard isGated else { return }
                _ = gate.wait(timeout: .now() + 60)
            }
            let session = site.session(delegate: log) { $0.speak(version) }

            let task = session.dataTask(with: site.server.url("/big"))
            task.resume()
            try await eventually { task.countOfBytesReceived > 200_000 }
            #expect(task.countOfBytesReceived < 2 << 20)
            gate.signal()

            #expect(try await log.finished().last == .completed(nil))
            let body = log.bodies.withLock { $0 }
            #expect(body.count == size && body.suffix(15) == Data("0123456789abcde".utf8))
        }

        @Test("a task that is suspended within a record goes on where it was, T-TLS-66", arguments: TLSVersion.allCases)
        func suspension(version: TLSVersion) async throws {
            let site = try SecuredSite()
            let size = 4 << 20
            site.server.route("GET", "/big") { _ in .stream(.repeating("x", count: size)) }
            let outcomes = Outcomes()
            let session = site.session { $0.speak(version) }
            let task = session.dataTask(with: site.server.url("/big"), completionHandler: outcomes.handler)
            task.resume()

            for part in 1...5 {
                try await eventually {
                    task.countOfBytesReceived > part * size / 10 || !outcomes.all.value.isEmpty
                }
                task.suspend()
                await session.settled()
                task.resume()
            }

            #expect(try await outcomes.first().data?.count == size)
        }
    }
}

/// Numbers that are the same in every run.
private struct Steps {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed &* 0x9E37_79B9_7F4A_7C15
    }

    mutating func next(_ limit: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % limit
    }
}
