import AFURLTypes
public import Foundation

extension URLSession {
    /// The values of a response that has one in JSON on each line (`application/x-ndjson`), as the lines arrive.
    ///
    /// ```swift
    /// for try await item in session.jsonLines(of: Item.self, for: request) { add(item) }
    /// ```
    ///
    /// Empty lines are left out. A line that cannot be decoded throws the decoder's `DecodingError`, whose description
    /// begins with the number of the line; the iteration is then over, and so is the load. A status other than 2xx throws
    /// `URLError.badServerResponse`, with the response as `URLError.refusedResponse`.
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
        var request = request
        if request.value(forHTTPHeaderField: "Accept") == nil {
            request.setValue("application/x-ndjson, application/jsonl, application/json", forHTTPHeaderField: "Accept")
        }
        let question = request
        // Held until the load has begun, which then holds it.
        return JSONLines(decoder: decoder, limit: limit) { [self, sessionDelegate = lentDelegate] in
            defer { withExtendedLifetime(sessionDelegate) {} }
            return try await bytes(for: question, expecting: .jsonLines, isApart: false, delegate: delegate).0
        }
    }
}

extension URLSession.AsyncBytes {
    /// The values of the body, which has one in JSON on each line, whatever status and type the response has.
    ///
    /// - Parameters:
    ///   - type: What a line has.
    ///   - decoder: Decodes each line.
    ///   - limit: The longest line in bytes.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: JSONDecoder = JSONDecoder(),
        limit: Int = URLSession.AsyncBytes.usualLineLimit
    ) -> JSONLines<Value> {
        JSONLines(decoder: decoder, limit: limit) { self }
    }
}

/// Values in JSON, one on each line: ``URLSession/jsonLines(of:for:decoder:limit:delegate:)``.
public struct JSONLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    /// What a line has.
    public typealias Element = Value

    let decoder: JSONDecoder
    let limit: Int
    let open: @Sendable () async throws -> URLSession.AsyncBytes

    /// Loads when the first value is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Returns values one by one. Releasing it ends the load.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let values: JSONLines
        private var lines: LineReader?
        private var number = 0
        private var isOver = false

        init(_ values: JSONLines) {
            self.values = values
        }

        /// The next value; nil at the end.
        public mutating func next() async throws -> Value? {
            try await next(isolation: nil)
        }

        /// The next value; nil at the end. Does not leave the caller's actor but to wait.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Value? {
            guard !isOver else { return nil }
            do {
                if let value = try await nextValue(isolation: actor) { return value }
            } catch {
                end()
                throw error
            }
            end()
            return nil
        }

        private mutating func nextValue(isolation actor: isolated (any Actor)?) async throws -> Value? {
            if lines == nil {
                let advice = "Raise the limit of jsonLines if you expect such values."
                lines = LineReader(source: try await values.open().source, limit: values.limit, advice: advice)
            }
            while let line = try await lines?.next(actor, form: { $0 }) {
                number += 1
                if let value = try values.decode(line, number: number) { return value }
            }
            return nil
        }

        private mutating func end() {
            isOver = true
            lines = nil
        }
    }

    /// Nil for a line without a value.
    private func decode(_ line: [UInt8], number: Int) throws -> Value? {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "Line \(number) is not UTF-8."))
        }
        if text.allSatisfy(\.isWhitespace) { return nil }
        do {
            return try decoder.decode(Value.self, from: Data(line))
        } catch let error as DecodingError {
            throw error.inLine(number)
        }
    }
}

extension DecodingError {
    /// The same error, which says where in the body it is.
    fileprivate func inLine(_ number: Int) -> DecodingError {
        func place(_ context: Context) -> Context {
            Context(
                codingPath: context.codingPath,
                debugDescription: "Line \(number): \(context.debugDescription)",
                underlyingError: context.underlyingError
            )
        }
        switch self {
        case .typeMismatch(let type, let context): return .typeMismatch(type, place(context))
        case .valueNotFound(let type, let context): return .valueNotFound(type, place(context))
        case .keyNotFound(let key, let context): return .keyNotFound(key, place(context))
        case .dataCorrupted(let context): return .dataCorrupted(place(context))
        @unknown default: return self
        }
    }
}
