/// The order of the operations on a stream.
///
/// Reads and writes go on side by side. A change of the stream as a whole waits for all operations before it, and all
/// after it wait for the change:
///
/// ```
/// read  read         │         │ read
/// write close writes │ secured │ write │ captured
/// ```
struct StreamSchedule<Read, Write> {
    enum Incoming {
        case read(Read)
        case close
    }

    enum Outgoing {
        case write(Write)
        case close
    }

    enum Change {
        case secured
        case captured
    }

    private struct Span {
        var incoming = Line<Incoming>()
        var outgoing = Line<Outgoing>()
        /// The change after all of these operations. Nil only in the last span.
        var change: Change?
    }

    private var present = Span()
    /// The spans after the first change.
    private var later = Line<Span>()

    // MARK: - Adding

    mutating func add(incoming: Incoming) {
        changeLast { $0.incoming.append(incoming) }
    }

    mutating func add(outgoing: Outgoing) {
        changeLast { $0.outgoing.append(outgoing) }
    }

    mutating func add(change: Change) {
        changeLast { $0.change = change }
        later.append(Span())
    }

    private mutating func changeLast(_ body: (inout Span) -> Void) {
        if later.isEmpty { body(&present) } else { later.changeLast(body) }
    }

    // MARK: - The next operation

    var nextIncoming: Incoming? { present.incoming.first }
    var nextOutgoing: Outgoing? { present.outgoing.first }
    var nextChange: Change? { present.incoming.isEmpty && present.outgoing.isEmpty ? present.change : nil }

    mutating func incomingDone() { present.incoming.removeFirst() }
    mutating func outgoingDone() { present.outgoing.removeFirst() }
    mutating func changeDone() { present = later.removeFirst() ?? Span() }

    // MARK: - Taking the rest

    /// Takes all reads before the next change.
    mutating func takePresentReads() -> [Read] {
        defer { present.incoming = Line() }
        return present.incoming.elements.compactMap(\.read)
    }

    mutating func takeReads() -> [Read] {
        var reads = takePresentReads()
        later.changeAll { span in
            reads += span.incoming.elements.compactMap(\.read)
            span.incoming = Line()
        }
        return reads
    }

    mutating func takeWrites() -> [Write] {
        var writes = present.outgoing.elements.compactMap(\.write)
        present.outgoing = Line()
        later.changeAll { span in
            writes += span.outgoing.elements.compactMap(\.write)
            span.outgoing = Line()
        }
        return writes
    }

    /// All reads and writes. Their order does not matter.
    var everything: (reads: [Read], writes: [Write]) {
        let spans = [present] + later.elements
        return (
            spans.flatMap { $0.incoming.elements.compactMap(\.read) },
            spans.flatMap { $0.outgoing.elements.compactMap(\.write) }
        )
    }
}

extension StreamSchedule.Incoming {
    fileprivate var read: Read? { if case .read(let read) = self { read } else { nil } }
}

extension StreamSchedule.Outgoing {
    fileprivate var write: Write? { if case .write(let write) = self { write } else { nil } }
}

/// A queue: first in, first out, each in constant time.
private struct Line<Element> {
    private var stored: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == stored.count }
    var first: Element? { isEmpty ? nil : stored[head] }
    var elements: [Element] { stored[head...].compactMap { $0 } }

    mutating func append(_ element: Element) {
        stored.append(element)
    }

    @discardableResult
    mutating func removeFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = stored[head]
        stored[head] = nil
        head += 1
        if head == stored.count || (head > 32 && head * 2 > stored.count) {
            stored.removeFirst(head)
            head = 0
        }
        return element
    }

    mutating func changeLast(_ body: (inout Element) -> Void) {
        guard var last = stored.popLast() ?? nil else { return }
        body(&last)
        stored.append(last)
    }

    mutating func changeAll(_ body: (inout Element) -> Void) {
        for index in stored.indices {
            guard var element = stored[index] else { continue }
            stored[index] = nil
            body(&element)
            stored[index] = element
        }
    }
}
