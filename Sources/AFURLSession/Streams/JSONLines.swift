import AFURLTypes
public import Foundation

extension URLSession {
    /// The values of a response that has one in JSON on each line (`application/x-ndjson`), as the lines arrive.
    ///
    /// ```swift
    /// for try await item in session.jsonLines(of: Item.self, for: request) { add(item) }
    /// ```
    ///
    /// Empty lines are left out. A line that cannot be decoded throws the decoder's error; the iteration is then over, and
    /// so is the load. A status other than 2xx throws `URLError.badServerResponse`.
    ///
    /// - Parameters:
    ///   - type: What a line has.
    ///   - request: Any request. `Accept` is set unless the request has it.
    ///   - decoder: Decodes each line.
    ///   - limit: The longest line in bytes.
    ///   - delegate: Hears about the task, as in ``bytes(for:delegate:)``.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        for request: URLRequest,
        decoder: JSONDecoder = JSONDecoder(),
        limit: Int = AsyncBytes.usualLineLimit,
        delegate: (any URLSessionTaskDelegate)? = nil
    ) -> JSONLines<Value> {
        JSONLines(session: self, request: request, decoder: decoder, limit: limit, delegate: delegate)
    }
}

/// Values in JSON, one on each line: ``URLSession/jsonLines(of:for:decoder:limit:delegate:)``.
public struct JSONLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// What a line has.
    public typealias Element = Value

    let session: URLSession
    let request: URLRequest
    let decoder: JSONDecoder
    let limit: Int
    let delegate: (any URLSessionTaskDelegate)?

    /// Loads when the first value is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Returns values one by one. Releasing it ends the load.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let values: JSONLines
        private var lines: URLSession.AsyncBytes.Lines.AsyncIterator?
        private var isOver = false

        init(_ values: JSONLines) {
            self.values = values
        }

        /// The next value; nil at the end.
        public mutating func next() async throws -> Value? {
            guard !isOver else { return nil }
            do {
                if lines == nil { lines = try await values.open() }
                while let line = try await lines?.next() {
                    if line.allSatisfy(\.isWhitespace) { continue }
                    return try values.decoder.decode(Value.self, from: Data(line.utf8))
                }
            } catch {
                end()
                throw error
            }
            end()
            return nil
        }

        private mutating func end() {
            isOver = true
            lines = nil
        }
    }

    private func open() async throws -> URLSession.AsyncBytes.Lines.AsyncIterator {
        var request = request
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue("application/x-ndjson, application/jsonl, application/json", forHTTPHeaderField: "Accept")
        }
        let (bytes, response) = try await session.bytes(for: request, delegate: delegate)
        if let status = (response as? HTTPURLResponse)?.statusCode, !(200..<300).contains(status) {
            let failure = LoadFailure(
                .response,
                .status,
                phase: .waitingForHead,
                message: "The server answered \(status) to a request for lines of JSON.",
                advice: "Look at the status; bytes(for:) reads the body of such a response."
            )
            throw ErrorMapping.error(failure, url: response.url)
        }
        return bytes.lines(limit: limit).makeAsyncIterator()
    }
}
