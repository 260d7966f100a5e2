import AFWire
import Foundation

/// Reads what a client sends: requests, or plain bytes for a script.
///
/// Belongs to one connection thread.
final class RequestReader {
    /// Why a request cannot be read.
    enum Failure: Error {
        /// The connection is over.
        case over(ConnectionEnd)
        /// The bytes are not a request.
        case malformed(String)
    }

    private let stream: SocketStream
    private let connection: Int
    private var buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    private var unread = 0..<0
    /// How many of the unread bytes a script has inspected.
    private var inspected = 0
    private var decoder = RequestDecoder(limits: .forServer)
    private var requestCount = 0

    init(stream: SocketStream, connection: Int) {
        self.stream = stream
        self.connection = connection
    }

    deinit {
        buffer.deallocate()
    }

    // MARK: - Requests

    /// Reads a head. Nil if the client closes before the first byte of it.
    func readHead() throws(Failure) -> RecordedRequest? {
        decoder = RequestDecoder(limits: .forServer)
        var raw = Data()
        while true {
            let step = try decode(keepingRaw: &raw)
            switch step {
            case .head(let head):
                defer { requestCount += 1 }
                var request = RecordedRequest(received: head, rawHead: raw, connection: connection, index: requestCount)
                request.isSecure = stream.tls != nil
                return request
            case .needMore:
                guard try overIfEnded(receiveMore) else {
                    if raw.isEmpty { return nil }
                    throw .over(.clientClosed)
                }
            case .body, .end:
                throw .malformed("a body before the head")
            }
        }
    }

    /// Whether the message has no body. Reads nothing from the connection.
    func endsWithoutBody(_ request: inout RecordedRequest) throws(Failure) -> Bool {
        do throws(HTTP1Error) {
            let step = try decoder.decode(UnsafeRawBufferPointer(start: nil, count: 0))
            if case .end = step.event {
                request.isComplete = true
                return true
            }
            return false
        } catch {
            throw .malformed(error.detail)
        }
    }

    /// Reads the rest of the message into `request` and stores at most `limit` bytes of the body.
    ///
    /// - Parameter onPiece: Called once with each piece of the body, stored or not.
    func readBody(
        into request: inout RecordedRequest,
        storing limit: Int,
        onPiece: ((_ bytes: [UInt8]) throws(Failure) -> Void)? = nil
    ) throws(Failure) {
        guard try !endsWithoutBody(&request) else { return }
        var ignored = Data()
        while true {
            let (storedBefore, countBefore) = (request.body.count, request.bodyByteCount)
            var received: [UInt8] = []
            let step = try decode(keepingRaw: &ignored) { piece in
                if onPiece != nil { received = Array(piece) }
                request.body.append(contentsOf: piece.prefix(max(0, limit - storedBefore)))
                request.bodyByteCount = countBefore + piece.count
            }
            switch step {
            case .end(let trailers):
                request.trailers = HeaderFields(trailers)
                request.isComplete = true
                return
            case .needMore:
                guard try overIfEnded(receiveMore) else { throw .over(.clientClosed) }
            case .body:
                try onPiece?(received)
            case .head:
                throw .malformed("a head inside a message")
            }
        }
    }

    private enum Outcome {
        case needMore
        case head(RequestDecoder.Received)
        case body
        case end(HTTPHeaders)
    }

    private func decode(
        keepingRaw raw: inout Data,
        onBody: (UnsafeRawBufferPointer) -> Void = { _ in }
    ) throws(Failure) -> Outcome {
        let input = UnsafeRawBufferPointer(rebasing: buffer[unread])
        do throws(HTTP1Error) {
            let step = try decoder.decode(input)
            let outcome: Outcome
            switch step.event {
            case .needMore:
                raw.append(contentsOf: input.prefix(step.consumed))
                outcome = .needMore
            case .head(let head):
                raw.append(contentsOf: input.prefix(step.consumed))
                outcome = .head(head)
            case .body(let piece):
                onBody(piece)
                outcome = .body
            case .end(let trailers):
                outcome = .end(trailers)
            }
            drop(step.consumed)
            return outcome
        } catch {
            throw .malformed(error.detail)
        }
    }

    // MARK: - Bytes

    /// Reads the next bytes and leaves them unread. Returns fewer than `count` if the client closes first.
    func inspect(_ count: Int) throws(ConnectionEnd) -> [UInt8] {
        while unread.count < inspected + count {
            guard try receiveMore() else { break }
        }
        let start = unread.lowerBound + inspected
        let end = min(start + count, unread.upperBound)
        inspected = end - unread.lowerBound
        return Array(buffer[start..<end])
    }

    /// Removes and returns everything that was received and not read.
    func takeUnread() -> [UInt8] {
        defer { drop(unread.count) }
        return Array(buffer[unread])
    }

    /// Drops the bytes that were inspected.
    func dropInspected() {
        drop(inspected)
    }

    /// Reads and drops `count` bytes. False if the client closes first.
    func skip(_ count: Int) throws(ConnectionEnd) -> Bool {
        var left = count
        while true {
            let taken = min(left, unread.count)
            drop(taken)
            left -= taken
            if left == 0 { return true }
            guard try receiveMore() else { return false }
        }
    }

    private func drop(_ count: Int) {
        unread = unread.lowerBound + count..<unread.upperBound
        inspected = max(0, inspected - count)
    }

    private func receiveMore() throws(ConnectionEnd) -> Bool {
        makeRoom()
        let count = try stream.receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[unread.upperBound...]))
        unread = unread.lowerBound..<unread.upperBound + count
        return count > 0
    }

    private func makeRoom() {
        if unread.isEmpty {
            unread = 0..<0
        } else if unread.upperBound == buffer.count {
            // Only a script leaves bytes unread; the decoder takes everything.
            let isFull = unread.lowerBound == 0
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: isFull ? buffer.count * 2 : buffer.count,
                alignment: 16
            )
            larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[unread]))
            buffer.deallocate()
            buffer = larger
            unread = 0..<unread.count
        }
    }
}

/// Runs a body that throws only the end of the connection.
func overIfEnded<Result>(
    _ body: () throws(ConnectionEnd) -> Result
) throws(RequestReader.Failure) -> Result {
    do throws(ConnectionEnd) {
        return try body()
    } catch {
        throw .over(error)
    }
}

extension HTTP1Limits {
    /// Limits that no head of a client under test exceeds.
    static let forServer = {
        var limits = HTTP1Limits.standard
        limits.headBytes = 1 << 20
        limits.lineBytes = 1 << 20
        return limits
    }()
}
