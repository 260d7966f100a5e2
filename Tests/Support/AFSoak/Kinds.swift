import AFBase
import AFLoop
import AFNetworking
import Foundation

extension Kind {
    /// All there are.
    static let all =
        answered + broken + slow + cancelled + secured + proxied + stored + local
        + (moved + higher).map(\.onQueues)
}

// MARK: - Kinds that have to be found

extension Kind {
    static let leak = Kind(name: "a leak, on purpose", expects: .done) { _ in
        let kept = Lock<[Data]>([])
        return Act { _ in
            kept.withLock { $0.append(Data(count: 1000)) }
            return End()
        }
    }

    static let misfit = getting("no hello, on purpose", "/bye", .text("hello"))
}

// MARK: - Making kinds

extension Kind {
    /// A kind that loads with one session for all.
    static func loading(
        _ name: String,
        _ expects: Expectation,
        width: Int = 6,
        configure: @escaping @Sendable (URLSessionConfiguration, Stage) throws -> Void = { _, _ in },
        _ once: @escaping @Sendable (Stage, URLSession, Int) async throws -> End
    ) -> Kind {
        Kind(name: name, expects: expects, width: width) { stage in
            let session = try stage.session { try configure($0, stage) }
            return Act {
                try await once(stage, session, $0)
            } end: {
                await session.invalidated()
            }
        }
    }

    /// A kind that gets one path.
    static func getting(
        _ name: String,
        _ path: String,
        _ expects: Expectation,
        on port: Port = \.plain,
        width: Int = 6,
        timeout: TimeInterval = 60,
        configure: @escaping @Sendable (URLSessionConfiguration, Stage) throws -> Void = { _, _ in }
    ) -> Kind {
        loading(name, expects, width: width, configure: configure) { stage, session, _ in
            await session.end(of: stage.url(path, port), timeout: timeout)
        }
    }

    /// A kind whose tasks are told to a delegate.
    static func delegating(
        _ name: String,
        _ expects: Expectation,
        width: Int = 6,
        _ desk: @escaping @Sendable () -> Desk,
        _ make: @escaping @Sendable (Stage, URLSession) -> URLSessionTask
    ) -> Kind {
        Kind(name: name, expects: expects, width: width) { stage in
            let desk = desk()
            let session = stage.session(delegate: desk)
            return Act { _ in
                await desk.end(of: make(stage, session))
            } end: {
                await session.invalidated()
            }
        }
    }

    static func posting(_ stage: Stage, _ path: String, _ body: Data) -> URLRequest {
        var request = URLRequest(url: stage.url(path))
        request.httpMethod = "POST"
        request.httpBody = body
        return request
    }
}
