import AFNetworkingTesting
import Foundation

/// One request and its response, over a new connection.
struct Visit {
    let status: Int
    let fields: [(name: String, value: String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The first field of that name, in lower case.
    subscript(name: String) -> String? { values(name).first }

    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The body as a JSON object.
    func json() throws -> [String: Any] {
        struct NoObject: Error {}
        let value = try JSONSerialization.jsonObject(with: Data(body), options: [.fragmentsAllowed])
        guard let object = value as? [String: Any] else { throw NoObject() }
        return object
    }

    init(
        _ server: TestServer,
        _ target: String,
        method: String = "GET",
        _ fields: [String] = [],
        body: some Sequence<UInt8> = []
    ) throws {
        let client = try RawClient(server)
        let content = Array(body)
        var head = "\(method) \(target) HTTP/1.1\r\n"
        if !fields.contains(where: { $0.hasPrefix("Host:") }) { head += "Host: test.example:81\r\n" }
        if !content.isEmpty { head += "Content-Length: \(content.count)\r\n" }
        for field in fields { head += field + "\r\n" }
        try client.send(bytes: Array((head + "Connection: close\r\n\r\n").utf8) + content)
        try self.init(readingFrom: client)
    }

    /// Reads everything up to the end of the stream.
    init(readingFrom client: RawClient) throws {
        var bytes: [UInt8] = []
        while true {
            let more = try client.read()
            if more.isEmpty { break }
            bytes += more
        }
        self.init(bytes)
    }

    init(_ bytes: [UInt8]) {
        let end = zip(bytes.indices, bytes.indices.dropFirst(3)).first {
            bytes[$0...$1].elementsEqual([13, 10, 13, 10])
        }
        let head = String(decoding: bytes[..<(end?.0 ?? bytes.count)], as: UTF8.self)
        let lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)
        status = Int((lines.first ?? "").split(separator: " ").dropFirst().first ?? "") ?? 0
        fields = lines.dropFirst().compactMap { line in
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            return (parts[0].lowercased(), parts[1].trimmingCharacters(in: .whitespaces))
        }
        let content = end.map { Array(bytes[($0.1 + 1)...]) } ?? []
        let isChunked = fields.contains { $0.name == "transfer-encoding" }
        body = isChunked ? Visit.joined(content) : content
    }

    private static func joined(_ chunks: [UInt8]) -> [UInt8] {
        var body: [UInt8] = []
        var rest = chunks[...]
        while let end = rest.firstIndex(of: 10) {
            let size = Int(String(decoding: rest[rest.startIndex..<end - 1], as: UTF8.self), radix: 16) ?? 0
            guard size > 0, end + 1 + size + 2 <= rest.endIndex else { break }
            body += rest[(end + 1)..<(end + 1 + size)]
            rest = rest[(end + 1 + size + 2)...]
        }
        return body
    }
}
