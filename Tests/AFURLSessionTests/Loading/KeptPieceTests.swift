struct KeptPieceTests {
    @Test(arguments: [false, true])
    func `pieces that a delegate keeps stay as they were`(isSecured: Bool) async throws {
        let body = Data((0..<24_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })
        let site = try SecuredSite()
        let server = isSecured ? site.server : try TestServer()
        server.route("GET", "/large", .data(body))
        let keeper = Keeper()
        let session = site.session(delegate: keeper)

        session.dataTask(with: server.url("/large")).resume()
        try await keeper.isDone.wait("the end") { $0 }

        let pieces = keeper.pieces.withLock { $0 }
        #expect(pieces.allSatisfy { $0.startIndex == 0 && $0.count <= 64 << 10 })
        #expect(pieces.reduce(into: Data()) { $0.append($1) } == body)
    }
}

private final class Keeper: URLSessionDataDelegate {
    let pieces = Lock<[Data]>([])
    let isDone = Watched(false)

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        pieces.withLock { $0.append(data) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        isDone.change { $0 = error == nil }
    }
}
