import AFURLTypes

/// The last requests that a serializer has made of a method and a text alone: programs ask for the same few again and
/// again. To find one takes a step for each, of which there are at most eight.
struct KeptRequests: Sendable {
    struct Key: Equatable, Sendable {
        let text: String
        let method: String
        /// The text of the base URL.
        let base: String?
    }

    private static let room = 8

    private var entries: [(key: Key, request: URLRequest)] = []
    /// The entry that goes next.
    private var oldest = 0

    subscript(key: Key) -> URLRequest? { entries.first { $0.key == key }?.request }

    mutating func keep(_ request: URLRequest, for key: Key) {
        if entries.count < KeptRequests.room { return entries.append((key, request)) }
        entries[oldest] = (key, request)
        oldest = (oldest + 1) % KeptRequests.room
    }
}
