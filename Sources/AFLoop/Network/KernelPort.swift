import CAFLinux
import Glibc

/// A netlink socket of the kernel's, for one reading.
package final class KernelPort: NetlinkPort {
    /// The kernel fills datagrams of up to 32 KiB if there is room for them.
    private static let capacity = 32 << 10

    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: KernelPort.capacity)

    package init() throws(SystemCallError) {
        descriptor = caf_netlink_open()
        guard descriptor >= 0 else { throw SystemCallError(.netlink, code: -descriptor) }
    }

    deinit {
        if descriptor >= 0 { _ = caf_close(descriptor) }
    }

    package func send(_ request: [UInt8]) throws(SystemCallError) {
        let result = request.withUnsafeBytes { caf_send(descriptor, $0.baseAddress, $0.count, nil, 0) }
        guard result >= 0 else { throw SystemCallError(.send, code: Int32(truncatingIfNeeded: -result)) }
    }

    package func receive() throws(SystemCallError) -> NetlinkArrival {
        var sender: UInt32 = 0
        var isTruncated = false
        let result = buffer.withUnsafeMutableBytes {
            caf_netlink_receive(descriptor, $0.baseAddress, $0.count, &sender, &isTruncated)
        }
        guard result >= 0 else { throw SystemCallError(.recv, code: Int32(truncatingIfNeeded: -result)) }
        let bytes = buffer.prefix(min(result, buffer.count))
        return NetlinkArrival(bytes: bytes, isFromKernel: sender == 0, isTruncated: isTruncated)
    }
}
