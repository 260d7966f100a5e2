import AFNetworking
import Dispatch
import Foundation
import Harness

/// Verbs of a session manager with a base URL, whose success closures each start the next request. They are called on
/// the main queue, as a program has it that sets no other.
final class ManagerClient: Client {
    private let bench: Bench
    private let manager: HTTPSessionManager

    init(_ bench: Bench, queue: DispatchQueue? = nil) {
        self.bench = bench
        manager = HTTPSessionManager(baseURL: bench.arguments.base, sessionConfiguration: bench.configuration())
        manager.responseSerializer = HTTPResponseSerializer()
        manager.completionQueue = queue
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        for _ in 0..<inFlight { startNext(url.relativeText, tally) }
    }

    private func startNext(_ path: String, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        manager.get(path, parameters: nil) { task, object in
            self.bench.check(task.response, nil)
            tally.count((object as? Data)?.count ?? 0)
            tally.finish(number)
            self.startNext(path, tally)
        } failure: { task, error in
            self.bench.check(task?.response, error)
        }
    }
}

/// The `async` verb of a session manager, which decodes a small JSON.
final class ManagerAsyncClient: Client {
    private let manager: HTTPSessionManager
    private let arguments: Arguments

    init(_ bench: Bench) {
        arguments = bench.arguments
        manager = HTTPSessionManager(baseURL: bench.arguments.base, sessionConfiguration: bench.configuration())
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        for _ in 0..<inFlight { Task { await loadAll(url.relativeText, tally) } }
    }

    private func loadAll(_ path: String, _ tally: Tally) async {
        while let number = tally.claim() {
            tally.start(number)
            do {
                let answer = try await manager.get(path, decode: Answer.self)
                tally.count(answer.name.utf8.count)
            } catch {
                arguments.fail("a request failed: \(error)")
            }
            tally.finish(number)
        }
    }

    private struct Answer: Decodable {
        let id: Int
        let name: String
    }
}

/// Verbs of the manager of AFNetworking 2, whose operations each start the next one.
final class OperationClient: Client {
    private let bench: Bench
    private let manager: HTTPRequestOperationManager

    init(_ bench: Bench) {
        self.bench = bench
        bench.chooseSharedCache()
        manager = HTTPRequestOperationManager(baseURL: bench.arguments.base)
        manager.responseSerializer = HTTPResponseSerializer()
        manager.operationQueue.maxConcurrentOperationCount = bench.arguments.concurrency
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        for _ in 0..<inFlight { startNext(url.relativeText, tally) }
    }

    private func startNext(_ path: String, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        manager.get(path, parameters: nil) { operation, object in
            self.bench.check(operation.response, nil)
            tally.count((object as? Data)?.count ?? 0)
            tally.finish(number)
            self.startNext(path, tally)
        } failure: { operation, error in
            self.bench.check(operation?.response, error)
        }
    }
}

extension Arguments {
    /// The server, as the base of a manager.
    var base: URL? { URL(string: "/", relativeTo: url)?.absoluteURL }
}

extension URL {
    /// The path and query, as a program writes them that has a base.
    var relativeText: String { String(path.dropFirst()) + (query.map { "?" + $0 } ?? "") }
}
