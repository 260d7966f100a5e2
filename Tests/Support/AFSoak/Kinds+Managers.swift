import AFImages
import AFLoop
import AFNetworking
import Foundation

extension Kind {
    private static func configuration(_ stage: Stage) -> URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls = stage.tls
        configuration.urlCache = nil
        return configuration
    }

    private static func managing(
        _ name: String,
        _ expects: Expectation,
        _ once: @escaping @Sendable (HTTPSessionManager, Int) async throws -> End
    ) -> Kind {
        Kind(name: name, expects: expects) { stage in
            let manager = HTTPSessionManager(baseURL: stage.url("/"), sessionConfiguration: configuration(stage))
            manager.completionQueue = DispatchQueue(label: "soak.completion")
            return Act {
                try await once(manager, $0)
            } end: {
                manager.invalidateSessionCancelingTasks(true, resetSession: false)
            }
        }
    }

    /// What a manager's call came to.
    private static func end(_ call: () async throws -> Any?) async -> End {
        do {
            _ = try await call()
            return End()
        } catch let failure as RequestFailure {
            return End(nil, nil, failure.error)
        } catch {
            return End(nil, nil, error)
        }
    }

    private static func imaging(_ name: String, _ path: String, _ expects: Expectation) -> Kind {
        Kind(name: name, expects: expects, width: 4) { stage in
            let manager = HTTPSessionManager(baseURL: nil, sessionConfiguration: configuration(stage))
            manager.responseSerializer = ImageResponseSerializer()
            let downloader = ImageDownloader(
                sessionManager: manager,
                downloadPrioritization: .fifo,
                maximumActiveDownloads: 4,
                imageCache: nil
            )
            return Act { number in
                await end { try await downloader.image(from: stage.url("\(path)?\(number)")) }
            } end: {
                manager.invalidateSessionCancelingTasks(true, resetSession: false)
            }
        }
    }

    private static func operating(_ name: String, _ expects: Expectation, _ path: String, isCancelled: Bool) -> Kind {
        Kind(name: name, expects: expects) { stage in
            let queue = OperationQueue()
            return Act { _ in
                await withCheckedContinuation { continuation in
                    let operation = HTTPRequestOperation(request: URLRequest(url: stage.url(path)))
                    operation.completionQueue = DispatchQueue.global()
                    operation.setCompletionBlock { operation, _ in
                        continuation.resume(returning: End(operation.responseData, operation.response))
                    } failure: { _, error in
                        continuation.resume(returning: End(nil, nil, error))
                    }
                    queue.addOperation(operation)
                    guard isCancelled else { return }
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(4)) { operation.cancel() }
                }
            }
        }
    }

    /// Managers, operations, connections, images, reachability.
    static let higher = [
        managing("a manager gets JSON", .done) { manager, _ in await end { try await manager.get("json").object } },
        managing("a manager posts a form", .code([-1016])) { manager, number in
            // The echo of it is no JSON.
            await end { try await manager.post("echo", parameters: ["number": "\(number)"]).object }
        },
        managing("a manager gets no JSON", .code([-1016])) { manager, _ in
            await end { try await manager.get("hello").object }
        },
        Kind(name: "a manager, made and dropped", expects: .done) { stage in
            Act { number in
                let manager = HTTPSessionManager(baseURL: stage.url("/"), sessionConfiguration: configuration(stage))
                manager.completionQueue = DispatchQueue.global()
                let end = await end { try await manager.get("json").object }
                manager.invalidateSessionCancelingTasks(number % 2 == 0, resetSession: false)
                return end
            }
        },
        operating("an operation", .text("hello"), "/hello", isCancelled: false),
        operating("an operation that is cancelled", .code([-999]), "/stall-body", isCancelled: true),
        Kind(name: "a connection on the network thread", expects: .text("hello")) { stage in
            Act { _ in
                await withCheckedContinuation { continuation in
                    let delegate = ConnectionEnd { continuation.resume(returning: $0) }
                    let connection = URLConnection(
                        request: URLRequest(url: stage.url("/hello")),
                        delegate: delegate,
                        startImmediately: false
                    )
                    connection?.schedule(onNetworkThreadIn: [.common])
                    connection?.start()
                }
            }
        },
        Kind(name: "a connection in a run loop", expects: .text("hello"), width: 2) { stage in
            let threads = [LoopThread(), LoopThread()]
            return Act { number in
                await withCheckedContinuation { continuation in
                    threads[number % 2].enqueue { done in
                        let delegate = ConnectionEnd {
                            done()
                            continuation.resume(returning: $0)
                        }
                        _ = URLConnection(request: URLRequest(url: stage.url("/hello")), delegate: delegate)
                    }
                }
            } end: {
                for thread in threads { thread.stop() }
            }
        },
        imaging("an image", "/image", .done),
        imaging("an image that is none", "/no-image", .code([URLError.cannotDecodeRawData.rawValue])),
        Kind(name: "reachability, started and stopped", expects: .done, width: 1) { _ in
            Act { _ in
                let manager = NetworkReachabilityManager.manager()
                manager.setReachabilityStatusChange { _ in }
                manager.startMonitoring()
                await withCheckedContinuation { done in NetworkThread.loop.enqueue { done.resume() } }
                manager.stopMonitoring()
                return End()
            }
        },
    ]
}
