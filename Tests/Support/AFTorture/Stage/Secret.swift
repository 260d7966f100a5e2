import AFNetworkingTesting
import Foundation

/// A word that only some servers may hear.
struct Secret: Sendable {
    let name: String
    let text: String
    let servers: [TestServer]
    let isInURLs: Bool

    /// How each of them ends.
    static let mark = "-canary"

    /// A server knows it that may not.
    func wasTold(to server: TestServer) -> Bool {
        guard !servers.contains(where: { $0 === server }) else { return false }
        return server.connections.contains { isIn($0.received) }
    }

    func isIn(_ data: Data) -> Bool { forms.contains { data.range(of: $0) != nil } }

    /// As it is, and as it looks within Base64, where it depends on what stands before it.
    private var forms: [Data] {
        let coded = (0..<3).map { shift -> Data in
            let text = (Data(count: shift) + Data(text.utf8)).base64EncodedString()
            return Data(text.dropFirst(shift == 0 ? 0 : 4).dropLast(4).utf8)
        }
        return [Data(text.utf8)] + coded
    }
}
