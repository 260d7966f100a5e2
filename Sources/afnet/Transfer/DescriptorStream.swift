import Foundation

/// The bytes behind a descriptor, from where it stands. Opened anew by its name a file would begin at its beginning, and
/// a socket cannot be.
final class DescriptorStream: InputStream {
    private let source: Descriptor
    private var status = Stream.Status.notOpen
    private var failure: SystemFailure?

    init(_ source: Descriptor) {
        self.source = source
        super.init(data: Data())
    }

    override var streamStatus: Stream.Status { status }
    override var streamError: (any Error)? {
        failure.map { NSError(domain: NSPOSIXErrorDomain, code: Int($0.code)) }
    }
    override var hasBytesAvailable: Bool { status == .open }

    override func open() {
        if status == .notOpen { status = .open }
    }

    override func close() {
        status = .closed
    }

    /// Waits until there is something. 0 at the end.
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int {
        guard status == .open else { return 0 }
        do throws(SystemFailure) {
            let count = try source.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: len))
            if count == 0 { status = .atEnd }
            return count
        } catch {
            failure = error
            status = .error
            return -1
        }
    }

    /// Has no buffer to show.
    override func getBuffer(
        _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>,
        length len: UnsafeMutablePointer<Int>
    ) -> Bool {
        false
    }
}
