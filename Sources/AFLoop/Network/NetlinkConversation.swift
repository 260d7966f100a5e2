import Glibc

/// Why the kernel has not told what it was asked.
package enum NetlinkFailure: Error, Sendable, Hashable {
    /// The kernel, or a filter in front of it such as seccomp, refuses.
    case refused(SystemCallError)
    /// The answer was not whole, or the list changed while it was made: asking again may help.
    case unsettled

    /// An answer that is not there yet, and a lack of memory, are nothing that lasts.
    init(_ error: SystemCallError) {
        let passing = [EAGAIN, ENOBUFS, ENOMEM, EINTR, EBUSY]
        self = passing.contains(error.code) ? .unsettled : .refused(error)
    }
}

/// Asks one question after the other and gathers the answers.
///
/// Every question has a number, which its answers carry: what was left over of an earlier one, given up halfway, is
/// recognised. What does not come from the kernel is dropped.
struct NetlinkConversation {
    /// Datagrams of one answer: 32 MiB of them, more than any machine has to say.
    private static let patience = 1024

    private let port: any NetlinkPort
    private var sequence: UInt32 = 0

    init(_ port: any NetlinkPort) {
        self.port = port
    }

    /// All parts of a list, each as `part` makes it.
    mutating func list<Part>(
        _ question: (UInt32) -> [UInt8],
        of type: UInt16,
        part: (NetlinkMessage) throws(NetlinkFailure) -> Part?
    ) throws(NetlinkFailure) -> [Part] {
        try ask(question)
        var parts: [Part] = []
        for _ in 0..<NetlinkConversation.patience {
            for message in try next() {
                // The dump goes on nonetheless, but the kernel does not say what is missing.
                guard message.flags & Netlink.dumpInterrupted == 0 else { throw .unsettled }
                switch message.type {
                case Netlink.done:
                    try NetlinkConversation.check(message)
                    return parts
                case type:
                    if let found = try part(message) { parts.append(found) }
                default: break
                }
            }
        }
        throw .unsettled
    }

    /// The one answer to a question, as `found` makes it.
    mutating func answer<Answer>(
        _ question: (UInt32) -> [UInt8]?,
        found: (NetlinkMessage) -> Answer?
    ) throws(NetlinkFailure) -> Answer {
        try ask { question($0) ?? [] }
        for _ in 0..<NetlinkConversation.patience {
            for message in try next(errorsToo: true) {
                if let answer = found(message) { return answer }
            }
        }
        throw .unsettled
    }

    private mutating func ask(_ question: (UInt32) -> [UInt8]) throws(NetlinkFailure) {
        sequence &+= 1
        do throws(SystemCallError) {
            try port.send(question(sequence))
        } catch {
            throw NetlinkFailure(error)
        }
    }

    /// What of the next datagram belongs to the question.
    private func next(errorsToo: Bool = false) throws(NetlinkFailure) -> [NetlinkMessage] {
        let arrival: NetlinkArrival
        do throws(SystemCallError) {
            arrival = try port.receive()
        } catch {
            throw NetlinkFailure(error)
        }
        guard arrival.isFromKernel else { return [] }
        let datagram = NetlinkDatagram(arrival.bytes)
        guard !arrival.isTruncated, datagram.isWhole, !datagram.messages.isEmpty else { throw .unsettled }
        let messages = datagram.messages.filter { $0.sequence == sequence }
        for message in messages where message.type == Netlink.overrun { throw .unsettled }
        guard !errorsToo, let error = messages.first(where: { $0.type == Netlink.error }) else { return messages }
        try NetlinkConversation.check(error)
        throw .unsettled
    }

    /// Both errors and ends of lists begin with a code, which is negative if something went wrong.
    private static func check(_ message: NetlinkMessage) throws(NetlinkFailure) {
        guard let code = message.payload.number(at: 0, as: Int32.self), code < 0, code > Int32.min else { return }
        throw NetlinkFailure(SystemCallError(.netlink, code: -code))
    }
}

/// Where questions to the kernel go and answers come from: the seam through which tests play what no kernel would say.
package protocol NetlinkPort: AnyObject {
    func send(_ request: [UInt8]) throws(SystemCallError)
    /// The next datagram. An answer to what was sent is there already: this does not wait.
    func receive() throws(SystemCallError) -> NetlinkArrival
}

package struct NetlinkArrival {
    package let bytes: ArraySlice<UInt8>
    package let isFromKernel: Bool
    /// There was more of it than fitted.
    package let isTruncated: Bool

    package init(bytes: ArraySlice<UInt8>, isFromKernel: Bool = true, isTruncated: Bool = false) {
        self.bytes = bytes
        self.isFromKernel = isFromKernel
        self.isTruncated = isTruncated
    }
}
