/// Reads a stream of events (WHATWG HTML §9.2.6).
///
/// A line is complete as soon as its CR or LF is there, so no event waits for the byte behind it. The lines of an event
/// whose empty line has not arrived are dropped with the parser. Bytes that are not UTF-8 become U+FFFD.
package struct EventStreamParser: Sendable {
    /// An event, as the stream dispatches it.
    package struct Event: Sendable, Equatable {
        /// The field `event`, or `message`.
        package let name: String
        /// The fields `data`, joined by LF.
        package let data: String
        /// The field `id` of this event, or of the last one that had it.
        package let id: String
    }

    /// What is longer than its limit. The stream cannot go on.
    package enum TooLong: Error, Equatable {
        case line
        /// The data of one event.
        case event
    }

    /// The identifier with which the stream can be resumed.
    package private(set) var lastID: String
    /// The wait before the client connects again, in milliseconds, if the stream has set one.
    package private(set) var retry: Int?

    private let lineLimit: Int
    private let eventLimit: Int
    private let keepsComments: Bool
    private var comment: String?
    /// The bytes of a line whose end has not arrived.
    private var line: [UInt8] = []
    /// Whether the last line ended with a CR. An LF behind it belongs to it.
    private var skipsLineFeed = false
    /// How many bytes of a byte order mark have been read; nil behind the beginning of the stream.
    private var markBytes: Int? = 0
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var id: String

    /// - Parameters:
    ///   - lastID: What the stream before this one left.
    ///   - lineLimit: The bytes of a line.
    ///   - eventLimit: The bytes of the data of an event.
    ///   - keepsComments: Whether ``next(_:)`` also returns at a comment, for ``takeComment()``.
    package init(lastID: String = "", lineLimit: Int, eventLimit: Int, keepsComments: Bool = false) {
        self.keepsComments = keepsComments
        self.lastID = lastID
        id = lastID
        self.lineLimit = lineLimit
        self.eventLimit = eventLimit
    }

    /// The comment at which ``next(_:)`` has returned nil; nil if it returned at the end of the bytes.
    package mutating func takeComment() -> String? {
        defer { comment = nil }
        return comment
    }

    /// Removes the bytes of the next event from `bytes`. Nil if all are read and no event is complete, and at a comment that
    /// is to be kept.
    package mutating func next(_ bytes: inout UnsafeRawBufferPointer) throws(TooLong) -> Event? {
        skipMark(&bytes)
        while try readLine(&bytes) {
            if line.isEmpty {
                if let event = dispatch() { return event }
            } else {
                try readField()
                line.removeAll(keepingCapacity: line.capacity <= 4096)
                if comment != nil { return nil }
            }
        }
        return nil
    }

    /// A byte order mark is no part of the first line. It may come in pieces.
    private mutating func skipMark(_ bytes: inout UnsafeRawBufferPointer) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        while let count = markBytes, let byte = bytes.first {
            guard byte == mark[count] else {
                // It is none: what looked like one belongs to the line.
                line += mark[..<count]
                markBytes = nil
                return
            }
            bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
            markBytes = count == 2 ? nil : count + 1
        }
    }

    // MARK: - Lines

    /// Completes the line. False if its end has not arrived.
    private mutating func readLine(_ bytes: inout UnsafeRawBufferPointer) throws(TooLong) -> Bool {
        if skipsLineFeed, let first = bytes.first {
            skipsLineFeed = false
            if first == 0x0A { bytes = UnsafeRawBufferPointer(rebasing: bytes.dropFirst()) }
        }
        let end = bytes.firstIndex { $0 == 0x0A || $0 == 0x0D }
        let part = bytes[..<(end ?? bytes.count)]
        guard part.count <= lineLimit - line.count else { throw .line }
        line += part
        guard let end else {
            bytes = UnsafeRawBufferPointer(rebasing: bytes[bytes.count...])
            return false
        }
        skipsLineFeed = bytes[end] == 0x0D
        bytes = UnsafeRawBufferPointer(rebasing: bytes[(end + 1)...])
        return true
    }

    private mutating func readField() throws(TooLong) {
        let colon = line.firstIndex(of: 0x3A) ?? line.count
        var value = line[colon...].dropFirst()
        if value.first == 0x20 { value = value.dropFirst() }
        // A line that begins with a colon is a comment. Other names mean nothing.
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "": if keepsComments { comment = String(decoding: value, as: UTF8.self) }
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data": try addData(value)
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        case "retry": readRetry(value)
        default: break
        }
    }

    private mutating func addData(_ value: ArraySlice<UInt8>) throws(TooLong) {
        let separator = hasData ? 1 : 0
        guard value.count <= eventLimit - data.count - separator else { throw .event }
        if hasData { data.append(0x0A) }
        data += value
        hasData = true
    }

    /// Digits only. Numbers beyond an Int are as long as that.
    private mutating func readRetry(_ value: ArraySlice<UInt8>) {
        guard !value.isEmpty, value.allSatisfy({ 0x30...0x39 ~= $0 }) else { return }
        retry = value.withUnsafeBytes { ByteScanning.decimal($0) }.flatMap { Int(exactly: $0) } ?? .max
    }

    // MARK: - Events

    /// Ends an event at its empty line. Nil if it has no data; it may have set the identifier all the same.
    private mutating func dispatch() -> Event? {
        lastID = id
        defer {
            name = ""
            data.removeAll(keepingCapacity: data.capacity <= 4096)
            hasData = false
        }
        // The standard looks at the data with their last line end: one empty field is an event with empty data.
        guard hasData else { return nil }
        return Event(name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self), id: lastID)
    }
}
