import AFURLSession
import Foundation
import Testing

/// A response and its body, with what the server says about the connection it came on.
struct Answer {
    let head: HTTPURLResponse
    let body: Data

    init(_ loaded: (Data, URLResponse)) throws {
        body = loaded.0
        head = try #require(loaded.1 as? HTTPURLResponse)
    }

    var status: Int { head.statusCode }
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The server's number for the connection, from a body of two numbers.
    var connection: Int { get throws { try numbers().connection } }
    /// Which of the connection's requests this answered, from 1.
    var turn: Int { get throws { try numbers().turn } }

    func field(_ name: String) -> String? { head.value(forHTTPHeaderField: name) }

    private func numbers() throws -> (connection: Int, turn: Int) {
        let words = text.split(separator: " ").compactMap { Int($0) }
        try #require(words.count == 2, "not two numbers: \(text)")
        return (words[0], words[1])
    }
}

extension URLSession {
    /// A session of its own, so that no test sees another's connections.
    static func fresh(_ configure: (URLSessionConfiguration) -> Void = { _ in }) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        return URLSession(configuration: configuration)
    }

    func get(_ path: String, from server: Nginx = .main) async throws -> Answer {
        try Answer(await data(from: server.url(path)))
    }

    func send(
        _ method: String,
        _ path: String,
        fields: [String: String] = [:],
        body: Data? = nil
    ) async throws -> Answer {
        var request = URLRequest(url: try Nginx.url(path))
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return try Answer(await data(for: request))
    }
}
