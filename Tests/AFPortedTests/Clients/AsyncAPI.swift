import AFURLSession
import Foundation

enum HTTPError: Error, Equatable {
    case unexpected(Int)
}

/// Async code of recent years.
struct AsyncAPI {
    let baseURL: URL
    var session = URLSession.shared

    func get<Value: Decodable>(_ path: String, as type: Value.Type = Value.self) async throws -> Value {
        let (data, response) = try await session.data(from: baseURL.appendingPathComponent(path))
        try check(response)
        return try JSONDecoder().decode(type, from: data)
    }

    func post<Body: Encodable>(_ body: Body, to path: String) async throws -> Data {
        var request = URLRequest(url: baseURL.appendingPathComponent(path))
        request.httpMethod = "POST"
        request.setValue("application/json; charset=utf-8", forHTTPHeaderField: "Content-Type")
        let (data, response) = try await session.upload(for: request, from: JSONEncoder().encode(body))
        try check(response)
        return data
    }

    func all(_ paths: [String]) async throws -> [String: Int] {
        try await withThrowingTaskGroup(of: (String, Int).self) { group in
            for path in paths {
                group.addTask {
                    let (data, _) = try await session.data(from: baseURL.appendingPathComponent(path))
                    return (path, data.count)
                }
            }
            var sizes: [String: Int] = [:]
            for try await (path, size) in group { sizes[path] = size }
            return sizes
        }
    }

    func file(_ path: String, to target: URL) async throws -> URLResponse {
        let (location, response) = try await session.download(from: baseURL.appendingPathComponent(path))
        try FileManager.default.moveItem(at: location, to: target)
        return response
    }

    /// Server-sent events.
    func events(_ path: String) -> AsyncThrowingStream<String, Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    var request = URLRequest(url: baseURL.appendingPathComponent(path))
                    request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
                    let (bytes, response) = try await session.bytes(for: request)
                    try check(response)
                    for try await line in bytes.lines where line.hasPrefix("data:") {
                        continuation.yield(line.dropFirst(5).trimmingCharacters(in: .whitespaces))
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    func firstBytes(_ count: Int, of path: String) async throws -> [UInt8] {
        let (bytes, _) = try await session.bytes(from: baseURL.appendingPathComponent(path))
        var found: [UInt8] = []
        for try await byte in bytes {
            found.append(byte)
            if found.count == count { break }
        }
        bytes.task.cancel()
        return found
    }

    func withRetry<Value>(_ attempts: Int, _ body: () async throws -> Value) async throws -> Value {
        for attempt in 1... {
            do {
                return try await body()
            } catch let error as URLError where error.code == .networkConnectionLost && attempt < attempts {
                continue
            }
        }
        throw CancellationError()
    }

    private func check(_ response: URLResponse) throws {
        guard let http = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
        guard http.statusCode == 200 else { throw HTTPError.unexpected(http.statusCode) }
    }
}
