/// Bodies that have to be sent again, here because an idle connection turns out dead.
@Suite("Sending a body again")
struct ReplayTests {
    private static let plain = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let address = URL(string: "http://api.test/2") ?? URL(fileURLWithPath: "/")

    /// The first connection dies under its second request, after `before`, and the
    /// others answer. Returns the session that has such a connection idle.
    private func world(
        delegate: any URLSessionDelegate,
        _ bodies: @escaping ([UInt8]) -> Void = { _ in },
        before: @escaping () -> Void = {},
        connections: Int = 6
    ) -> (VirtualWorld, URLSession) {
        let world = VirtualWorld()
        var hasDied = false
        world.respond("api.test") { request, moment, client in
            if request.turn == 1, !hasDied {
                guard moment == .complete else { return }
                hasDied = true
                before()
                return client.reset()
            }
            guard moment == .complete else { return }
            bodies(request.body)
            client.send(Self.plain)
        }
        let (session, _) = world.makeSession(delegate: delegate) { $0.httpMaximumConnectionsPerHost = connections }
        let first = session.dataTask(with: URL(string: "http://api.test/1") ?? Self.address)
        first.resume()
        world.run { first.state == .completed }
        return (world, session)
    }

    private func run(_ task: URLSessionTask, in world: VirtualWorld, _ recorder: EventRecorder) -> TaskRecord {
        task.resume()
        world.run { recorder.record(of: task.taskIdentifier).completions > 0 }
        return recorder.record(of: task.taskIdentifier)
    }

    @Test func `T-REQ-21 T-FIL-21 a file is read again from its beginning`() throws {
        let folder = try ScratchFolder()
        let content = pattern(300_000)
        let file = try folder.file(content)
        let recorder = EventRecorder()
        var bodies: [Data] = []
        let (world, session) = world(delegate: recorder, { if !$0.isEmpty { bodies.append(Data($0)) } })

        let task = session.uploadTask(with: URLRequest("PUT", Self.address), fromFile: file)
        let record = run(task, in: world, recorder)

        #expect(record.summary == [.response(200), .data(2), .finished])
        #expect(bodies == [content])
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `a file that is coded on its way is coded again from its beginning`() throws {
        let folder = try ScratchFolder()
        let content = Coded.text(300_000)
        let file = try folder.file(content)
        let recorder = EventRecorder()
        var bodies: [Data?] = []
        let (world, session) = world(delegate: recorder, { if !$0.isEmpty { bodies.append(Coded.plain(Data($0))) } })
        var request = URLRequest("PUT", Self.address)
        request.bodyCoding = .gzip

        let record = run(session.uploadTask(with: request, fromFile: file), in: world, recorder)

        #expect(record.summary == [.response(200), .data(2), .finished])
        #expect(bodies == [content])
        #expect(world.network.connections.count == 2)
        #expect(world.finish() == [])
    }

    @Test func `T-FIL-21 a file that is another one by now is not sent again`() throws {
        let folder = try ScratchFolder()
        let file = try folder.file(pattern(300_000))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)],
            ofItemAtPath: file.path
        )
        let recorder = EventRecorder()
        let (world, session) = world(
            delegate: recorder,
            before: {
                try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: file.path)
            }
        )

        let task = session.uploadTask(with: URLRequest("PUT", Self.address), fromFile: file)
        let record = run(task, in: world, recorder)

        #expect(record.summary == [.failed(.requestBodyStreamExhausted)])
        #expect(world.network.connections.last.map { $0.received.count < 65_536 } == true)
        #expect(world.finish() == [])
    }

    @Test func `T-REQ-21 a stream is asked for again`() {
        let content = pattern(100_000)
        let source = StreamSource { _ in InputStream(data: content) }
        var bodies: [Data] = []
        let (world, session) = world(delegate: source, { if !$0.isEmpty { bodies.append(Data($0)) } })

        let task = session.uploadTask(withStreamedRequest: URLRequest("PUT", Self.address))
        task.resume()
        world.run { task.state == .completed }

        #expect(task.error == nil)
        #expect(source.questions.value == 2)
        #expect(bodies == [content])
        #expect(world.finish() == [])
    }

    @Test func `T-REQ-21 without another stream the task fails and says what to do`() {
        let source = StreamSource { $0 == 1 ? InputStream(data: Data(count: 1000)) : nil }
        let (world, session) = world(delegate: source)

        let task = session.uploadTask(withStreamedRequest: URLRequest("PUT", Self.address))
        task.resume()
        world.run { task.state == .completed }

        let error = task.error as? URLError
        #expect(error?.code == .requestBodyStreamExhausted)
        #expect(error?.loadFailure?.message.contains("needNewBodyStream") == true)
        #expect(source.questions.value == 2)
        #expect(world.finish() == [])
    }

    enum Ending: CaseIterable {
        case noStream, cancelled, tooLate
    }

    @Test(arguments: Ending.allCases)
    func `T-REQ-21 a request that ends while it waits for its body leaves its place to others`(ending: Ending) throws {
        let source = StreamSource { $0 == 1 ? InputStream(data: Data(count: 1000)) : nil }
        source.isSilent.change { $0 = ending != .noStream }
        let (world, session) = world(delegate: source, connections: 1)

        let task = session.uploadTask(withStreamedRequest: URLRequest("PUT", Self.address))
        task.resume()
        world.run { source.questions.value == 2 }
        switch ending {
        case .noStream: break
        case .cancelled: task.cancel()
        case .tooLate: world.advance(by: .seconds(8 * 24 * 3600))
        }
        world.run { task.state == .completed }
        #expect(task.error != nil)

        let next = session.dataTask(with: Self.address)
        next.resume()
        world.run { next.state == .completed }

        #expect(next.error == nil)
        #expect(world.finish() == [])
    }

    @Test func `T-MSG-46 a streamed POST that may have been processed asks for no stream`() {
        let source = StreamSource { _ in InputStream(data: Data(count: 1000)) }
        let (world, session) = world(delegate: source)

        let task = session.uploadTask(withStreamedRequest: URLRequest("POST", Self.address))
        task.resume()
        world.run { task.state == .completed }

        #expect((task.error as? URLError)?.code == .networkConnectionLost)
        #expect(source.questions.value == 1)
        #expect(world.finish() == [])
    }
}
