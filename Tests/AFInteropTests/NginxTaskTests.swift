import AFURLSession
import Foundation
import Testing

extension NginxTests {
    /// Tasks seen through closures and delegates, and tasks that end early.
    struct Tasks {
        @Test func `a completion handler gets body and response`() async throws {
            let session = URLSession.fresh()
            let url = try Nginx.url("/small")

            let (count, status) = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: url) { data, response, _ in
                    continuation.resume(returning: (data?.count, (response as? HTTPURLResponse)?.statusCode))
                }
                task.resume()
            }

            #expect(count == 40)
            #expect(status == 200)
        }

        @Test func `a delegate gets every byte, then the end`() async throws {
            let recorder = TaskRecorder()
            let session = URLSession(configuration: .ephemeral, delegate: recorder, delegateQueue: nil)

            session.dataTask(with: try Nginx.url("/1m")).resume()

            var body = Data()
            for await event in recorder.events {
                guard case .data(let data) = event else { break }
                body += data
            }
            let isSame = try body == Nginx.file("1m")
            #expect(isSame)
        }

        @Test func `a task cancelled in the middle of its body ends as cancelled`() async throws {
            let recorder = TaskRecorder()
            let session = URLSession(configuration: .ephemeral, delegate: recorder, delegateQueue: nil)
            let task = session.dataTask(with: try Nginx.url("/trickle"))
            task.resume()
            var events = recorder.events.makeAsyncIterator()

            guard case .data = await events.next() else {
                Issue.record("no data arrived")
                return
            }
            task.cancel()

            while case .data = await events.next() {}
            #expect((task.error as? URLError)?.code == .cancelled)
        }

        @Test func `a cancelled Swift task takes its request along`() async throws {
            let session = URLSession.fresh()
            let url = try Nginx.url("/trickle")

            let loading = Task { try await session.data(from: url) }
            loading.cancel()

            let error = await #expect(throws: URLError.self) { _ = try await loading.value }
            #expect(error?.code == .cancelled)
            #expect(try await session.get("/small").status == 200)
        }

        @Test func `a trickling body runs into the time allowed for the whole`() async throws {
            let session = URLSession.fresh { $0.timeoutIntervalForResource = 1 }

            let error = await #expect(throws: URLError.self) { _ = try await session.get("/trickle") }

            #expect(error?.code == .timedOut)
        }

        @Test func `a pause longer than the time between bytes is a timeout`() async throws {
            let session = URLSession.fresh { $0.timeoutIntervalForRequest = 0.4 }

            let error = await #expect(throws: URLError.self) { _ = try await session.get("/trickle") }

            #expect(error?.code == .timedOut)
        }
    }
}

/// Hands on what a delegate hears, in order.
final class TaskRecorder: URLSessionDataDelegate, Sendable {
    enum Event {
        case data(Data)
        case end
    }

    let events: AsyncStream<Event>
    private let heard: AsyncStream<Event>.Continuation

    init() { (events, heard) = AsyncStream.makeStream() }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        heard.yield(.data(data))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        heard.yield(.end)
        heard.finish()
    }
}
