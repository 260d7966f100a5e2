/// Where a `Heap` keeps an element. It finds nothing once the element has left.
public struct HeapPlace: Sendable {
    @usableFromInline
    let slot: Int

    @inlinable
    init(slot: Int) {
        self.slot = slot
    }
}

/// A queue by key: the element with the smallest key comes first, and of equal keys the one that was added first.
///
/// Adding, moving and removing take O(log n). Each element has a place, by which its owner finds it again, so an element
/// that leaves early leaves nothing behind. As long as elements come in their order and leave at the ends, it is a list:
/// nothing is compared but neighbours.
///
/// Public and inlinable as `Lock` is: unspecialized, each use costs a thousand instructions. Only the methods ask for keys
/// that can be compared: for a type that asks for it, the runtime passes over all conformances of the program, once for
/// each kind of key (Docs/Internals/Performance.md).
public struct Heap<Key, Element> {
    @usableFromInline
    struct Node {
        @usableFromInline
        var key: Key
        @usableFromInline
        let number: UInt64
        @usableFromInline
        let slot: Int

        @inlinable
        init(key: Key, number: UInt64, slot: Int) {
            self.key = key
            self.number = number
            self.slot = slot
        }
    }

    @usableFromInline
    struct Slot {
        @usableFromInline
        var element: Element?
        /// Of its node; of a free slot, the next free one.
        @usableFromInline
        var position: Int

        @inlinable
        init(element: Element?, position: Int) {
            self.element = element
            self.position = position
        }
    }

    @usableFromInline
    static var keptCapacity: Int { 64 }

    /// Those before `start` are gone. Of the others, counted from there, none goes before its parent, which is at half its
    /// position.
    @usableFromInline
    var nodes: ContiguousArray<Node> = []
    /// Not zero only while the nodes are in order: each end of a list in order is a heap as well.
    @usableFromInline
    var start = 0
    @usableFromInline
    var isInOrder = true
    @usableFromInline
    var slots: ContiguousArray<Slot> = []
    @usableFromInline
    var firstFree = -1
    @usableFromInline
    var lastNumber: UInt64 = 0

    /// An empty heap.
    @inlinable
    public init() {}
}

extension Heap.Node where Key: Comparable {
    @inlinable
    static func < (one: Self, other: Self) -> Bool {
        one.key == other.key ? one.number < other.number : one.key < other.key
    }
}

extension Heap where Key: Comparable {
    /// How many elements it has.
    @inlinable
    public var count: Int { nodes.count - start }

    /// Whether it has none.
    @inlinable
    public var isEmpty: Bool { nodes.count == start }

    /// The element that comes first.
    @inlinable
    public var first: Element? { isEmpty ? nil : slots[nodes[start].slot].element }

    /// The key of the element that comes first.
    @inlinable
    public var firstKey: Key? { isEmpty ? nil : nodes[start].key }

    /// The key of an element.
    @inlinable
    public func key(of place: HeapPlace) -> Key { nodes[slots[place.slot].position].key }

    /// Adds an element behind those with the same key.
    @inlinable
    public mutating func add(_ element: Element, _ key: Key) -> HeapPlace {
        let slot: Int
        if firstFree < 0 {
            slot = slots.count
            slots.append(Slot(element: element, position: nodes.count))
        } else {
            slot = firstFree
            firstFree = slots[slot].position
            slots[slot] = Slot(element: element, position: nodes.count)
        }
        lastNumber += 1
        let node = Node(key: key, number: lastNumber, slot: slot)
        let isBehind = isEmpty || nodes[nodes.count - 1] < node
        nodes.append(node)
        if !isInOrder || !isBehind {
            leaveOrder()
            rise(node, from: nodes.count - 1)
        }
        return HeapPlace(slot: slot)
    }

    /// Gives an element another key. Among those with that key it stands where it was added.
    @inlinable
    public mutating func move(_ place: HeapPlace, to key: Key) {
        leaveOrder()
        let position = slots[place.slot].position
        var node = nodes[position]
        node.key = key
        put(node, at: position)
    }

    /// Takes an element out.
    @inlinable
    @discardableResult
    public mutating func remove(_ place: HeapPlace) -> Element? {
        if isInOrder, slots[place.slot].position == start {
            start += 1
        } else {
            if slots[place.slot].position < nodes.count - 1 { leaveOrder() }
            let position = slots[place.slot].position
            let last = nodes.removeLast()
            if position < nodes.count { put(last, at: position) }
        }
        let element = slots[place.slot].element.take()
        slots[place.slot].position = firstFree
        firstFree = place.slot
        tidy()
        return element
    }

    /// Takes the first element out.
    @inlinable
    @discardableResult
    public mutating func popFirst() -> Element? {
        isEmpty ? nil : remove(HeapPlace(slot: nodes[start].slot))
    }

    /// Whether fewer than `limit` elements come before this one. Looks at twice that many.
    @inlinable
    public func isAmongFirst(_ limit: Int, _ place: HeapPlace) -> Bool {
        let node = nodes[slots[place.slot].position]
        var before = 0
        var open = [0]
        while before < limit, let position = open.popLast() {
            // What stands below a node comes after it.
            guard position < count, nodes[start + position] < node else { continue }
            before += 1
            open += [2 * position + 1, 2 * position + 2]
        }
        return before < limit
    }

    /// The first of the elements that fit. Looks at twice as many as come before it and do not fit.
    @inlinable
    public func first(where fits: (Element) -> Bool) -> Element? {
        var best: Node?
        var open = [0]
        while let position = open.popLast() {
            guard position < count else { continue }
            let node = nodes[start + position]
            guard best.map({ node < $0 }) ?? true else { continue }
            if slots[node.slot].element.map(fits) == true {
                best = node
            } else {
                open += [2 * position + 1, 2 * position + 2]
            }
        }
        return best.flatMap { slots[$0.slot].element }
    }

    /// From now on it is a heap, until it is empty.
    @inlinable
    mutating func leaveOrder() {
        isInOrder = false
        dropGone()
    }

    /// Removes the nodes that are gone.
    @inlinable
    mutating func dropGone() {
        guard start > 0 else { return }
        nodes.removeFirst(start)
        start = 0
        for position in nodes.indices { slots[nodes[position].slot].position = position }
    }

    @inlinable
    mutating func tidy() {
        guard isEmpty else {
            // As many are gone as are moved.
            if start >= Self.keptCapacity, start > nodes.count / 2 { dropGone() }
            return
        }
        isInOrder = true
        start = 0
        if slots.count > Self.keptCapacity {
            (nodes, slots, firstFree) = ([], [], -1)
        } else {
            nodes.removeAll(keepingCapacity: true)
        }
    }

    @inlinable
    mutating func put(_ node: Node, at position: Int) {
        if position > 0, node < nodes[(position - 1) / 2] {
            rise(node, from: position)
        } else {
            sink(node, from: position)
        }
    }

    // A request passes through a heap or two: these two work on the memory itself, without a check for each step.

    @inlinable
    mutating func rise(_ node: Node, from start: Int) {
        nodes.withUnsafeMutableBufferPointer { nodes in
            slots.withUnsafeMutableBufferPointer { slots in
                var position = start
                while position > 0 {
                    let parent = nodes[(position - 1) / 2]
                    guard node < parent else { break }
                    nodes[position] = parent
                    slots[parent.slot].position = position
                    position = (position - 1) / 2
                }
                nodes[position] = node
                slots[node.slot].position = position
            }
        }
    }

    @inlinable
    mutating func sink(_ node: Node, from start: Int) {
        nodes.withUnsafeMutableBufferPointer { nodes in
            slots.withUnsafeMutableBufferPointer { slots in
                let count = nodes.count
                var position = start
                while 2 * position + 1 < count {
                    var place = 2 * position + 1
                    if place + 1 < count, nodes[place + 1] < nodes[place] { place += 1 }
                    let child = nodes[place]
                    guard child < node else { break }
                    nodes[position] = child
                    slots[child.slot].position = position
                    position = place
                }
                nodes[position] = node
                slots[node.slot].position = position
            }
        }
    }
}

extension Heap: Sendable where Key: Sendable, Element: Sendable {}
extension Heap.Node: Sendable where Key: Sendable, Element: Sendable {}
extension Heap.Slot: Sendable where Element: Sendable {}
