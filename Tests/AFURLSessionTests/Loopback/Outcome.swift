/// How tasks with completion handlers ended.
struct Outcome: Sendable, CustomStringConvertible {
    let data: Data?
    let response: HTTPURLResponse?
    let error: URLError?

    init(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        self.data = data
        self.response = response as? HTTPURLResponse
        self.error = error as? URLError
    }

    var text: String? { data.map { String(decoding: $0, as: UTF8.self) } }
    var status: Int? { response?.statusCode }
    var code: Int? { error?.code.rawValue }
    var reason: LoadFailure.Reason? { error?.loadFailure?.reason }

    var description: String {
        error.map { "\($0.code.rawValue) \($0.loadFailure?.message ?? "")" } ?? "\(status ?? 0) \(text ?? "")"
    }
}

/// Completion handlers that write down what they get.
final class Outcomes: Sendable {
    let all = Watched<[Outcome]>([])

    var handler: @Sendable (Data?, URLResponse?, (any Error)?) -> Void {
        { [all] data, response, error in all.change { $0.append(Outcome(data, response, error)) } }
    }

    func wait(for count: Int, seconds: Int = 60) async throws -> [Outcome] {
        try await all.wait("\(count) completions", seconds: seconds) { $0.count >= count }
    }

    func first() async throws -> Outcome { try await wait(for: 1)[0] }
}

extension URLSession {
    /// A session of its own, so that no test sees another's connections.
    static func loopback(
        delegate: (any URLSessionDelegate)? = nil,
        queue: OperationQueue? = nil,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    /// Loads with a completion handler and waits for it.
    func outcome(of request: URLRequest) async throws -> Outcome {
        let outcomes = Outcomes()
        dataTask(with: request, completionHandler: outcomes.handler).resume()
        return try await outcomes.first()
    }

    func outcome(of url: URL, seconds: Int = 60) async throws -> Outcome {
        let outcomes = Outcomes()
        dataTask(with: url, completionHandler: outcomes.handler).resume()
        return try await outcomes.wait(for: 1, seconds: seconds)[0]
    }

    /// Returns when everything asked of the network thread before has been done.
    func settled() async {
        await withCheckedContinuation { continuation in
            NetworkThread.loop.enqueue { continuation.resume() }
        }
    }
}
