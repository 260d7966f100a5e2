import AFBase
import AFLoop
import AFTestSupport
import Glibc

/// Plays the kernel's part of a conversation by netlink.
final class KernelScript: Sendable {
    /// What is asked for.
    enum Question: Sendable, Hashable {
        case links
        case addresses
        case route
    }

    /// What comes instead of, or with, an answer.
    struct Datagram: Sendable {
        var bytes: [UInt8] = []
        var isFromKernel = true
        var isTruncated = false
        var failure: Int32?
    }

    typealias Answer = @Sendable (_ question: Question, _ sequence: UInt32, _ port: Int) -> [Datagram]?

    private let ports = Lock(0)
    private let answer: Answer

    /// - Parameter answer: Nil for the usual one. `port` counts the conversations from 1.
    init(_ answer: @escaping Answer = { _, _, _ in nil }) {
        self.answer = answer
    }

    var conversations: Int { ports.withLock { $0 } }

    /// A network that is read by this script.
    var network: KernelNetwork {
        KernelNetwork(
            open: { [self] () throws(SystemCallError) in ScriptedPort(self, number: nextPort()) },
            facts: { name, _ in InterfaceFacts(isWireless: name.hasPrefix("wlan")) }
        )
    }

    func read() -> Result<NetworkReading, NetlinkFailure> { network.read(routesTo: [KernelScript.far]) }

    static let far = SocketAddress(internetBytes: [198, 41, 0, 4]) ?? SocketAddress(unixPath: "/none")!

    private func nextPort() -> Int {
        ports.withLock { ports in
            ports += 1
            return ports
        }
    }

    fileprivate func datagrams(_ question: Question, _ sequence: UInt32, _ port: Int) -> [Datagram] {
        answer(question, sequence, port) ?? KernelScript.usual(question, sequence)
    }

    /// A loopback interface and a wireless one, in two parts.
    static func usual(_ question: Question, _ sequence: UInt32) -> [Datagram] {
        switch question {
        case .links:
            [
                Datagram(bytes: NetlinkBytes.link(1, "lo", hardware: 772, flags: 0x49, sequence: sequence)),
                Datagram(bytes: NetlinkBytes.link(2, "wlan0", flags: 0x1043, sequence: sequence)),
                Datagram(bytes: NetlinkBytes.done(sequence: sequence)),
            ]
        case .addresses:
            [
                Datagram(
                    bytes: NetlinkBytes.address(1, [127, 0, 0, 1], sequence: sequence)
                        + NetlinkBytes.address(2, [192, 0, 2, 1], sequence: sequence)
                        + NetlinkBytes.done(sequence: sequence)
                )
            ]
        case .route: [Datagram(bytes: NetlinkBytes.route(by: 2, from: [192, 0, 2, 1], sequence: sequence))]
        }
    }
}

private final class ScriptedPort: NetlinkPort {
    private let script: KernelScript
    private let number: Int
    private var waiting: [KernelScript.Datagram] = []

    init(_ script: KernelScript, number: Int) {
        self.script = script
        self.number = number
    }

    func send(_ request: [UInt8]) throws(SystemCallError) {
        let type = request.count > 16 ? UInt16(request[4]) : 0
        let question: KernelScript.Question = type == 18 ? .links : type == 22 ? .addresses : .route
        let sequence = request[8..<12].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        waiting += script.datagrams(question, sequence, number)
    }

    func receive() throws(SystemCallError) -> NetlinkArrival {
        guard !waiting.isEmpty else { throw SystemCallError(.recv, code: EAGAIN) }
        let next = waiting.removeFirst()
        if let code = next.failure { throw SystemCallError(.recv, code: code) }
        return NetlinkArrival(bytes: next.bytes[...], isFromKernel: next.isFromKernel, isTruncated: next.isTruncated)
    }
}
