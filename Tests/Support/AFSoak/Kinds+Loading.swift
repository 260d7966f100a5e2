import AFLoop
import AFNetworking
import Foundation

extension Kind {
    // MARK: - Answers

    static let answered = [
        getting("answered", "/hello", .text("hello")),
        getting("answered, each on a connection of its own", "/bye", .text("bye")),
        loading("a body of 20 KB", .bytes(count: 20_000, ownSeed: true)) { stage, session, number in
            await session.end(of: stage.url("/bytes/20000/\(number)"))
        },
        loading("a body in chunks", .bytes(count: 5000, ownSeed: true)) { stage, session, number in
            await session.end(of: stage.url("/chunked/5000/\(number)"))
        },
        getting("a coded body", "/gzip", .status(200)),
        delegating("told to a delegate", .text("hello"), { Desk() }) { $1.dataTask(with: $0.url("/hello")) },
        loading("a body that is posted", .bytes(count: 3000, ownSeed: true)) { stage, session, number in
            await session.end(of: posting(stage, "/echo", Pattern.bytes(3000, seed: number)))
        },
        getting("redirected", "/redirect/3", .status(200)),
        getting("redirected for ever", "/redirect/loop", .code([URLError.httpTooManyRedirects.rawValue])),
        getting("a password is missing", "/basic-auth/ann/secret", .status(401)),
        delegating("a wrong password", .status(401)) {
            Desk(onChallenge: { challenge in
                challenge.previousFailureCount > 0
                    ? nil : URLCredential(user: "ann", password: "wrong", persistence: .none)
            })
        } _: {
            $1.dataTask(with: $0.url("/basic-auth/ann/secret"))
        },
        delegating("the right password, as a digest", .status(200)) {
            Desk(onChallenge: { _ in URLCredential(user: "ann", password: "secret", persistence: .none) })
        } _: {
            $1.dataTask(with: $0.url("/digest-auth/auth/ann/secret/SHA-256"))
        },
        loading("read byte by byte, and left", .done) { stage, session, _ in
            let (bytes, _) = try await session.bytes(from: stage.url("/bytes/20000/1"))
            for try await _ in bytes { break }
            return End()
        },
        loading("a stream", .done) { stage, session, _ in
            let task = session.streamTask(withHostName: "127.0.0.1", port: Int(stage.addresses.plain))
            task.resume()
            try await task.write(Data("GET /bye HTTP/1.1\r\nHost: x\r\n\r\n".utf8), timeout: 10)
            let (data, _) = try await task.readData(ofMinLength: 1, maxLength: 500, timeout: 10)
            task.cancel()
            return End(data)
        },
    ]

    // MARK: - What breaks

    private static let lost: Expectation = .code([URLError.networkConnectionLost.rawValue])
    private static let malformed: Expectation = .code([URLError.cannotParseResponse.rawValue])

    static let broken = [
        getting("refused", "/hello", .code([URLError.cannotConnectToHost.rawValue]), on: \.closed),
        getting("reset before the head", "/reset-before-head", lost),
        getting("reset in the head", "/reset-in-head", lost),
        getting("reset in the body", "/reset-in-body", lost),
        getting("cut in the body", "/cut", lost),
        getting("no http", "/no-http", malformed),
        getting("a length that is none", "/framing", malformed),
        getting("chunks that are none", "/chunks", malformed),
        getting("a coding that ends too early", "/compressed/gzip/truncated", undecodable),
        // It is one only after 16 MiB.
        getting("a bomb", "/compressed/gzip/bomb?size=20000000", undecodable, width: 2).asLong(as: 40),
        getting("more than may be in memory", "/compressed/gzip/bomb?size=20000000", undecodable) { configuration, _ in
            configuration.maximumBodyInMemory = 100_000
        },
        loading("an upload that is refused", .code([413, -1005])) { stage, session, _ in
            let end = await session.end(of: posting(stage, "/refused", Data(count: 300_000)))
            // It is answered before it was read; whether the answer is seen, depends on who is quicker.
            return end.status == 413 ? End(nil, nil, NSError(domain: "status", code: 413)) : end
        },
        loading("an upload that is broken off", lost) { stage, session, _ in
            await session.end(of: posting(stage, "/reset", Data(count: 300_000)))
        },
        Kind(name: "a name that does not exist", expects: .code([-1003]), isAlone: true) { stage in
            Faults.noNames()
            let session = stage.session()
            let url = URL(string: "http://nobody.test/") ?? stage.folder
            return Act { _ in
                await session.end(of: url)
            } end: {
                await session.invalidated()
                Faults.stop()
            }
        },
    ]

    /// Both codes that speak of decoding, and that of a body that is too long.
    private static let undecodable: Expectation = .code([-1015, -1016, -1103])

    // MARK: - What takes too long

    private static let timedOut: Expectation = .code([URLError.timedOut.rawValue])

    static let slow = [
        getting("no head in time", "/stall-head", timedOut, width: 24, timeout: 0.05),
        getting("no more of the body in time", "/stall-body", timedOut, width: 24, timeout: 0.05),
        getting("no handshake in time", "/hello", timedOut, on: \.silent, width: 24, timeout: 0.05),
        getting(
            "too long in all",
            "/stall-body",
            timedOut,
            width: 24,
            configure: { configuration, _ in configuration.timeoutIntervalForResource = 0.05 }
        ),
    ]

    // MARK: - What is cancelled

    private static let isCancelled: Expectation = .code([URLError.cancelled.rawValue])

    /// Cancels after a while: long enough for it to have come to where it stalls, mostly.
    private static func cancelling(
        _ name: String,
        _ path: String,
        on port: Port = \.plain,
        after milliseconds: Int = 4
    ) -> Kind {
        loading(name, isCancelled, width: 16) { stage, session, _ in
            await ended { done in
                let task = session.dataTask(with: stage.url(path, port)) { done(End($0, $1, $2)) }
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { task.cancel() }
                return task
            }
        }
    }

    static let cancelled = [
        loading("cancelled before it is started", isCancelled) { stage, session, _ in
            await ended { done in
                let task = session.dataTask(with: stage.url("/hello")) { done(End($0, $1, $2)) }
                task.cancel()
                return task
            }
        },
        loading("cancelled at once", .code([-999, 0])) { stage, session, _ in
            let end = await ended { done in
                let task = session.dataTask(with: stage.url("/hello")) { done(End($0, $1, $2)) }
                task.resume()
                task.cancel()
                return task
            }
            return end.error == nil ? End(nil, nil, NSError(domain: "done", code: 0)) : end
        },
        cancelling("cancelled before the head", "/stall-head"),
        cancelling("cancelled in the handshake", "/hello", on: \.silent),
        delegating("cancelled in the body", isCancelled, { Desk(onData: { $0.cancel() }) }) {
            $1.dataTask(with: $0.url("/stall-body"))
        },
        Kind(name: "cancelled with the session", expects: isCancelled) { stage in
            Act { _ in
                let session = stage.session()
                let end = await ended { done in
                    let task = session.dataTask(with: stage.url("/stall-head")) { done(End($0, $1, $2)) }
                    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(4)) {
                        session.invalidateAndCancel()
                    }
                    return task
                }
                return end
            }
        },
        loading(
            "cancelled in the queue",
            isCancelled,
            width: 1,
            configure: { configuration, _ in configuration.httpMaximumConnectionsPerHost = 1 }
        ) { stage, session, _ in
            let first = Task { await session.end(of: stage.url("/stall-head")) }
            let second = Task { await session.end(of: stage.url("/hello")) }
            try? await Task.sleep(for: .milliseconds(3))
            second.cancel()
            first.cancel()
            _ = await second.value
            return await first.value
        },
    ]
}
