import AFURLSession
import Foundation
import Glibc

/// The bytes of a descriptor from its current position, or of a file from an offset on. Opening a descriptor again by name
/// would begin a file at its start, and fail for a socket.
final class DescriptorStream: InputStream {
    private var source: Descriptor?
    /// The file that the stream opens and closes.
    private let file: (path: String, offset: Int64)?
    private var status = Stream.Status.notOpen
    private var failure: SystemFailure?

    init(_ source: Descriptor) {
        self.source = source
        file = nil
        super.init(data: Data())
    }

    init(path: String, from offset: Int64) {
        file = (path, offset)
        super.init(data: Data())
    }

    deinit {
        closeFile()
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? {
        failure.map { NSError(domain: NSPOSIXErrorDomain, code: Int($0.code)) }
    }
    override var hasBytesAvailable: Bool { status == .open }

    override func open() {
        guard status == .notOpen else { return }
        status = .open
        guard let file else { return }
        do throws(SystemFailure) {
            let source = try Descriptor.opening(file.path, flags: O_RDONLY)
            self.source = source
            try source.seek(to: file.offset)
        } catch {
            fail(error)
        }
    }

    override func close() {
        status = .closed
        closeFile()
    }

    private func closeFile() {
        if file == nil { return }
        try? source?.close()
        source = nil
    }

    private func fail(_ failure: SystemFailure) {
        self.failure = failure
        status = .error
    }

    /// Waits for at least one byte. 0 at the end.
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard status == .open, let source else { return status == .error ? -1 : 0 }
        do throws(SystemFailure) {
            let count = try source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: len))
            if count == 0 { status = .atEnd }
            return count
        } catch {
            fail(error)
            return -1
        }
    }

    /// The stream has no buffer.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }
}
