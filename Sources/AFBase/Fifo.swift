/// A queue: what was added first is taken first. It keeps its storage as long as that is small.
///
/// To add and to take an element is constant time, taken over many; `contains` and `remove` look at all.
///
/// Public and inlinable as `Lock` is: unspecialized, each use costs a thousand instructions.
public struct Fifo<Element> {
    @usableFromInline
    static var keptCapacity: Int { 16 }

    /// Those in front of `head` are taken.
    @usableFromInline
    var elements: [Element?] = []
    @usableFromInline
    var head = 0

    /// An empty queue.
    @inlinable
    public init() {}

    /// Whether there is no element.
    @inlinable
    public var isEmpty: Bool { head == elements.count }

    /// The element that was added first.
    @inlinable
    public var first: Element? { isEmpty ? nil : elements[head] }

    /// Adds an element behind the others.
    @inlinable
    public mutating func append(_ element: Element) {
        elements.append(element)
    }

    /// Takes the element that was added first.
    @inlinable
    public mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head].take()
        head += 1
        if head == elements.count {
            let isSmall = elements.capacity <= Self.keptCapacity
            // Of one element, `removeAll` costs more than all the rest.
            if isSmall, head == 1 { elements.removeLast() } else { elements.removeAll(keepingCapacity: isSmall) }
            head = 0
        } else if head > Self.keptCapacity, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }

    /// Puts an element back that was taken.
    @inlinable
    public mutating func putBack(_ element: consuming Element) {
        if isEmpty { return elements.append(element) }
        guard head > 0 else { return elements.insert(element, at: 0) }
        head -= 1
        elements[head] = element
    }

    /// Whether this is true of an element.
    @inlinable
    public func contains(where isMeant: (Element) -> Bool) -> Bool {
        elements[head...].contains { $0.map(isMeant) == true }
    }

    /// Removes the first element of which this is true. False if there is none.
    @inlinable
    public mutating func remove(where isMeant: (Element) -> Bool) -> Bool {
        guard let index = elements[head...].firstIndex(where: { $0.map(isMeant) == true }) else { return false }
        elements.remove(at: index)
        return true
    }

    /// All that is left, in order.
    @inlinable
    public mutating func takeAll() -> [Element] {
        let rest = elements[head...].compactMap { $0 }
        (elements, head) = ([], 0)
        return rest
    }
}
