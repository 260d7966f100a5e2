import Foundation

/// Writes what arrives to the sink, and reports progress.
extension URLConnectionOperation {
    func receive(_ response: URLResponse, from connection: URLConnection) {
        guard isCurrent(connection) else { return }
        switch continuation(with: response) {
        case .loadAgain: loadAgain()
        case .take:
            let sink = state.withLock { state -> ResponseSink? in
                let offset = state.continuesAt ?? 0
                state.response = response
                let expected = response.expectedContentLength
                state.totalBytesExpected = expected < 0 ? -1 : expected + offset
                return state.continuesAt == nil ? state.sink : nil
            }
            // A response replaces the one before.
            if let sink, !startOver(sink) { end(connection, with: sink.failure(.notRewindable)) }
        }
    }

    func receive(_ data: Data, from connection: URLConnection) {
        let (sink, limit) = state.withLock { ($0.sink, $0.world.maximumBodyInMemory) }
        guard isCurrent(connection), let sink else { return }
        if sink.isMemory, Int64(data.count) > Int64(limit) - sink.count {
            return end(connection, with: tooLong(limit))
        }
        if let error = sink.write(data) { return end(connection, with: error) }
        state.withLock { $0.totalBytesRead += Int64(data.count) }
        let (total, expected) = state.withLock { ($0.totalBytesRead, $0.totalBytesExpected) }
        tell({ $0.downloadProgress }, data.count, total, expected)
    }

    func receiveEnd(from connection: URLConnection) {
        guard isCurrent(connection) else { return }
        let sink = state.withLock { $0.sink }
        finish(with: sink.flatMap { $0.hasRemains ? $0.failure(.remains) : nil })
    }

    private func tooLong(_ limit: Int) -> URLError {
        let failure = LoadFailure(
            .limit,
            phase: .receivingBody,
            message: "The body is longer than \(limit) bytes.",
            advice: "Give the operation an output stream, to a file say."
        )
        return ErrorMapping.error(failure, url: request.url)
    }

    private func end(_ connection: URLConnection, with error: any Error) {
        connection.cancel()
        finish(with: error)
    }

    /// Calls the block that is set by then, on the main queue. Without a block nothing is enqueued: if no thread serves
    /// the main queue, calls would pile up.
    func tell(
        _ block: @escaping @Sendable (OperationState) -> ProgressBlock?,
        _ count: Int,
        _ total: Int64,
        _ expected: Int64
    ) {
        guard state.withLock({ block($0) }) != nil else { return }
        MainQueue.async { [self] in state.withLock { block($0) }?(UInt(count), total, expected) }
    }
}
