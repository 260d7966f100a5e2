import AFBase

@testable import AFNetworking

@Suite("Operations by the hundreds")
struct OperationStressTests {
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// `AFNET_OPERATION_SEEDS` of a thousand operations each; one of 200, unless set.
    private static let seeds = ProcessInfo.processInfo.environment["AFNET_OPERATION_SEEDS"].flatMap { Int($0) }

    private final class WeakOperation: Sendable {
        weak let operation: HTTPRequestOperation?
        init(_ operation: HTTPRequestOperation) { self.operation = operation }
    }

    @Test("14 operations: paused, resumed and cancelled at random, each finishes exactly once, and nothing is left")
    func random() async throws {
        let server = try TestServer()
        server.route("GET", "/short", .text("short"))
        server.route("GET", "/long") { .file(Data(repeating: 0x78, count: 200_000), entityTag: "\"1\"", to: $0) }
        for seed in 0..<(Self.seeds ?? 1) {
            let watched = try await load(server, seed: UInt64(seed), count: Self.seeds == nil ? 200 : 1000)
            try await eventually("operations to go") { watched.allSatisfy { $0.operation == nil } }
        }
    }

    private func load(_ server: TestServer, seed: UInt64, count: Int) async throws -> [WeakOperation] {
        var random = Seeded(state: seed)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        let ends = Heard<Int>()
        var operations: [HTTPRequestOperation] = []
        for number in 0..<count {
            let path = Bool.random(using: &random) ? "/short" : "/long"
            let operation = HTTPRequestOperation(request: URLRequest(url: server.url(path)))
            operation.setCompletionBlockWithSuccess { operation, object in
                let length = (object as? Data)?.count
                #expect(length == (path == "/short" ? 5 : 200_000), "seed \(seed), operation \(number)")
                ends.add(number)
            } failure: { operation, error in
                #expect(operation.isCancelled && error.urlCode == NSURLErrorCancelled, "\(seed) \(number): \(error)")
                ends.add(number)
            }
            operations.append(operation)
            queue.addOperation(operation)
        }
        var paused: [HTTPRequestOperation] = []
        while !operations.allSatisfy({ $0.isFinished || paused.contains($0) }) {
            guard let operation = operations.randomElement(using: &random) else { break }
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                operation.pause()
                if operation.isPaused { paused.append(operation) }
            case 4..<8: if let one = paused.popLast() { one.resume() }
            case 8: operation.cancel()
            default: try await Task.sleep(for: .milliseconds(1))
            }
        }
        while let operation = paused.popLast() { operation.resume() }
        do {
            try await eventually("all to end", seconds: 60) { ends.all.count >= count && queue.operationCount == 0 }
        } catch {
            let late = operations.filter { !$0.isFinished }.map { "\($0) \($0.state.withLock { $0.machine })" }
            Issue.record("seed \(seed): \(ends.all.count) of \(count) ended, not \(late)")
        }
        #expect(Set(ends.all).count == count && ends.all.count == count)
        return operations.map(WeakOperation.init)
    }
}
