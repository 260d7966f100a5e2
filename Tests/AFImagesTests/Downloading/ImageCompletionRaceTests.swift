import AFBase
import Dispatch
import Synchronization

@testable import AFImages
@testable import AFNetworking

/// Downloads that begin while the session of their manager ends.
@Suite struct ImageCompletionRaceTests {
    private static let rounds = 200
    private static let perRound = 12

    @Test func `each caller is answered once, however the session ends meanwhile`() async throws {
        let answers = Lock(Array(repeating: 0, count: Self.rounds * Self.perRound))
        let count = Atomic(0)
        let answered: @Sendable (Int) -> Void = { number in
            answers.withLock { $0[number] += 1 }
            count.add(1, ordering: .releasing)
        }
        for round in 0..<Self.rounds {
            download(round, answered)
            // Managers drop notifications beyond 4096 that wait for the main queue, also those of other tests.
            await withCheckedContinuation { continuation in
                OperationQueue.main.addOperation { continuation.resume() }
            }
        }
        try? await eventually("all answers") { count.load(ordering: .acquiring) >= Self.rounds * Self.perRound }
        #expect(answers.withLock { $0.count { $0 == 0 } } == 0)
        #expect(answers.withLock { $0.count { $0 > 1 } } == 0)
    }

    private func download(_ round: Int, _ answered: @escaping @Sendable (Int) -> Void) {
        let manager = HTTPSessionManager()
        manager.responseSerializer = ImageResponseSerializer()
        let downloader = ImageDownloader(
            sessionManager: manager,
            downloadPrioritization: .fifo,
            maximumActiveDownloads: 2,
            imageCache: nil
        )
        let end = round % (Self.perRound + 1)
        DispatchQueue.concurrentPerform(iterations: Self.perRound + 1) { index in
            guard index != end else {
                return manager.invalidateSessionCancelingTasks(round.isMultiple(of: 2), resetSession: false)
            }
            let number = round * Self.perRound + (index < end ? index : index - 1)
            // An unused port. Some requests are for the same image.
            guard let url = URL(string: "http://127.0.0.1:1/\(number % 8)") else { return }
            downloader.downloadImage(for: URLRequest(url: url)) { _, _, _ in
                answered(number)
            } failure: { _, _, _ in
                answered(number)
            }
        }
        manager.invalidateSessionCancelingTasks(true, resetSession: false)
    }
}
