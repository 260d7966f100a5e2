import AFRequest
public import Foundation

/// The body of a multipart form, read part by part.
///
/// Made by ``HTTPRequestSerializer/multipartFormRequest(withMethod:urlString:parameters:constructingBodyWith:)``, and
/// found in the `httpBodyStream` of its requests. Data is read in place, files are read piece by piece. A read fills
/// the buffer across the borders of parts; a read of no bytes is the end.
///
/// **Once or again.** A stream is read once. A copy reads the same form from its beginning, and costs nothing; any
/// thread may make one, also while this one is being read. Parts that are streams of yours are shared by all copies,
/// and the first to come to one of them reads it.
///
/// **Errors.** A part that cannot be read, or is not as long as was announced, ends the stream: what was read before is
/// returned, the next read returns 0, ``streamStatus`` is `error` and ``streamError`` says what happened. The session
/// then fails the task, and the server has no complete request.
public final class MultipartBodyStream: InputStream, NSCopying {
    /// How many bytes there are in all.
    public let contentLength: Int64
    private let layout: MultipartLayout
    private var reader: MultipartReader
    private var status = Stream.Status.notOpen
    private var failure: NSError?

    init(layout: MultipartLayout, length: Int64) {
        self.layout = layout
        contentLength = length
        reader = MultipartReader(layout)
        super.init(data: Data())
    }

    deinit {
        reader.close()
    }

    /// The boundary between the parts.
    public var boundary: String { layout.boundary }

    /// The most a read returns.
    public var numberOfBytesInPacket: Int { layout.packets.size }

    /// How many seconds should pass from packet to packet. Reads do not wait.
    public var delay: TimeInterval { layout.packets.delay }

    /// A new stream of the same form, at its beginning.
    public func copy(with zone: NSZone? = nil) -> Any {
        MultipartBodyStream(layout: layout, length: contentLength)
    }

    // MARK: - Reading

    /// Whether it is not open, open, closed or failed.
    public override var streamStatus: Stream.Status { status }

    /// The error of a stream that has failed.
    public override var streamError: (any Error)? { failure }

    /// Whether it is open. Only a read can tell whether there are bytes.
    public override var hasBytesAvailable: Bool { status == .open }

    /// Opens the stream. Fails if a part was already read and cannot be read again.
    public override func open() {
        guard status == .notOpen else { return }
        status = .open
        for part in layout.parts {
            if case .stream(let handed) = part.source, handed.isTaken { fail(MultipartError.streamIsUsed(part)) }
        }
    }

    /// Closes the stream and the files and streams of its parts.
    public override func close() {
        reader.close()
        status = .closed
    }

    /// Reads up to ``numberOfBytesInPacket`` bytes. 0 at the end, and after a failure; never a negative number.
    public override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard status == .open, len > 0 else { return 0 }
        let room = UnsafeMutableBufferPointer(start: buffer, count: min(len, layout.packets.size))
        var count = 0
        do throws(NSError) {
            while count < room.count {
                guard let step = try reader.read(into: UnsafeMutableBufferPointer(rebasing: room[count...])) else {
                    break
                }
                count += step
            }
        } catch {
            fail(error)
        }
        return count
    }

    private func fail(_ error: NSError) {
        reader.close()
        failure = failure ?? error
        status = .error
    }

    // MARK: - Not supported

    /// Has no buffer of its own to show. False.
    public override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }

    /// Has no properties. Nil.
    public override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

    /// Takes no properties. False.
    public override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }

    /// Does nothing: the stream is always ready.
    public override func schedule(in aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}

    /// Does nothing.
    public override func remove(from aRunLoop: RunLoop, forMode mode: RunLoop.Mode) {}
}

extension URLRequest {
    /// A copy of the stream that is the body, from its beginning. Nil if it cannot be copied.
    package var copyOfStream: InputStream? {
        guard let stream = httpBodyStream else { return nil }
        return (stream as? any NSCopying)?.copy(with: nil) as? InputStream
    }
}
