extension DownloadTests {
    /// In virtual time, with disks that take three hours for whatever they do.
    struct HangingDisks {
        private static let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n"
        private static let half: [ServerStep] = [
            .expectRequest, .reply(head + "Content-Length: 100\r\n\r\nsome of it"), .stall,
        ]
        private static let all: [ServerStep] = [
            .expectRequest, .reply(head + "Content-Length: 9\r\n\r\nall of it"), .again,
        ]

        private let folder: ScratchFolder
        private let outcomes = DownloadOutcomes()
        private let resumeData = Lock<[Data?]>([])

        init() throws {
            folder = try ScratchFolder()
        }

        private func world(_ scripts: [ServerStep]..., resourceTimeout: TimeInterval = 3600) -> VirtualWorld {
            let world = VirtualWorld()
            world.configure {
                $0.temporaryFolder = folder.url
                $0.timeoutIntervalForRequest = 5
                $0.timeoutIntervalForResource = resourceTimeout
            }
            world.scripts("api.test", scripts)
            return world
        }

        private func begin(in world: VirtualWorld) -> URLSessionDownloadTask {
            let url = URL(string: "http://api.test/") ?? folder.url
            let task = world.session.downloadTask(with: url, completionHandler: outcomes.handler)
            task.resume()
            return task
        }

        private func hang(_ world: VirtualWorld) {
            world.workers.take(.seconds(3 * 3600))
        }

        private var codes: [Int?] { outcomes.all.value.map(\.code) }

        @Test(arguments: [false, true])
        func `T-FIL-28 a download whose rest cannot be saved ends when it is cancelled`(isInvalidated: Bool) {
            let world = world(Self.half)
            let recorder = world.recorder
            hang(world)
            let task = begin(in: world)
            // It has failed, and what has arrived waits for the disk.
            world.advance(by: .seconds(10))
            #expect(codes == [] && task.state == .running)

            if isInvalidated { world.session.invalidateAndCancel() } else { task.cancel() }
            world.advance(by: .seconds(1))

            #expect(codes == [-999] && task.state == .completed)
            #expect(outcomes.all.value.first?.resumeData == nil)
            #expect(recorder.invalidations == (isInvalidated ? 1 : 0))
            #expect(world.finish() == [])
            #expect(codes == [-999] && folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-28 a download whose rest cannot be saved ends a minute later by itself`() {
            let world = world(Self.half)
            hang(world)
            let task = begin(in: world)

            world.advance(by: .seconds(60))
            #expect(codes == [] && task.state == .running)
            world.advance(by: .seconds(10))

            #expect(codes == [-1001] && task.state == .completed)
            #expect(outcomes.all.value.first?.resumeData == nil)
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-18 a caller who waits for resume data gets what a slow disk saves`() throws {
            let world = world(Self.half)
            world.workers.take(.seconds(2))
            let task = begin(in: world)
            world.advance(by: .seconds(6))
            #expect(codes == [])

            for _ in 1...2 { task.cancel { [resumeData] data in resumeData.withLock { $0.append(data) } } }
            world.session.invalidateAndCancel()
            world.advance(by: .seconds(3))

            let data = try #require(outcomes.all.value.first?.resumeData)
            #expect(codes == [-1001])
            #expect(resumeData.withLock { $0 } == [data, data])
            #expect(world.finish() == [])
            #expect(folder.leftovers.count == 1)
        }

        @Test(arguments: [false, true])
        func `T-FIL-18, 28 a caller who waits for resume data waits a minute for a disk that hangs`(isWhole: Bool) {
            let world = world(isWhole ? Self.all : Self.half)
            hang(world)
            let task = begin(in: world)
            world.advance(by: .seconds(1))

            task.cancel { [resumeData] data in resumeData.withLock { $0.append(data) } }
            world.advance(by: .seconds(59))
            #expect(codes == [])
            world.advance(by: .seconds(2))

            #expect(codes == [-999] && resumeData.withLock { $0 } == [nil])
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-28 the time of a task goes on while its disk hangs`() {
            // Without a validator there is nothing to save when it is over.
            let reply = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nall of it"
            let world = world([.expectRequest, .reply(reply), .again], resourceTimeout: 30)
            hang(world)
            let task = begin(in: world)
            world.advance(by: .seconds(20))

            task.suspend()
            world.advance(by: .seconds(100))
            task.resume()
            world.advance(by: .seconds(9))
            #expect(codes == [] && task.state == .running)
            world.advance(by: .seconds(2))

            #expect(codes == [-1001])
            let failure = outcomes.all.value.first?.error?.loadFailure
            #expect(failure?.detail == .resource && failure?.phase == .receivingBody)
            #expect(world.finish() == [])
            #expect(folder.leftovers.isEmpty)
        }

        @Test func `T-FIL-28 the time of a task goes on while its part is looked for`() throws {
            let cut = Self.head + "Content-Length: 9\r\n\r\nall"
            let world = world([.expectRequest, .reply(cut), .close], resourceTimeout: 30)
            _ = begin(in: world)
            world.run { !codes.isEmpty }
            let data = try #require(outcomes.all.value.first?.resumeData)
            hang(world)

            let task = world.session.downloadTask(withResumeData: data, completionHandler: outcomes.handler)
            task.resume()
            world.advance(by: .seconds(29))
            #expect(codes.count == 1)
            // And a minute to put it back.
            world.advance(by: .seconds(62))

            #expect(codes == [-1005, -1001] && task.state == .completed)
            #expect(world.network.connections.count == 1)
            #expect(world.finish() == [])
        }
    }
}
