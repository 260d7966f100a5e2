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
/// that leaves early leaves nothing behind.
///
/// Public and inlinable as `Lock` is: unspecialized, each use costs a thousand instructions.
public struct Heap<Key: Comparable, Element> {
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

        @inlinable
        static func < (one: Node, other: Node) -> Bool {
            one.key == other.key ? one.number < other.number : one.key < other.key
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

    /// No node goes before its parent, which is at half its position.
    @usableFromInline
    var nodes: ContiguousArray<Node> = []
    @usableFromInline
    var slots: ContiguousArray<Slot> = []
    @usableFromInline
    var firstFree = -1
    @usableFromInline
    var lastNumber: UInt64 = 0

    /// An empty heap.
    @inlinable
    public init() {}

    /// How many elements it has.
    @inlinable
    public var count: Int { nodes.count }

    /// Whether it has none.
    @inlinable
    public var isEmpty: Bool { nodes.isEmpty }

    /// The element that comes first.
    @inlinable
    public var first: Element? { nodes.first.flatMap { slots[$0.slot].element } }

    /// The key of the element that comes first.
    @inlinable
    public var firstKey: Key? { nodes.first?.key }

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
        nodes.append(node)
        rise(node, from: nodes.count - 1)
        return HeapPlace(slot: slot)
    }

    /// Gives an element another key. Among those with that key it stands where it was added.
    @inlinable
    public mutating func move(_ place: HeapPlace, to key: Key) {
        let position = slots[place.slot].position
        var node = nodes[position]
        node.key = key
        put(node, at: position)
    }

    /// Takes an element out.
    @inlinable
    @discardableResult
    public mutating func remove(_ place: HeapPlace) -> Element? {
        let position = slots[place.slot].position
        let last = nodes.removeLast()
        if position < nodes.count { put(last, at: position) }
        let element = slots[place.slot].element.take()
        slots[place.slot].position = firstFree
        firstFree = place.slot
        if nodes.isEmpty, slots.count > Self.keptCapacity {
            (nodes, slots, firstFree) = ([], [], -1)
        }
        return element
    }

    /// Takes the first element out.
    @inlinable
    @discardableResult
    public mutating func popFirst() -> Element? {
        nodes.first.flatMap { remove(HeapPlace(slot: $0.slot)) }
    }

    /// Whether fewer than `limit` elements come before this one. Looks at twice that many.
    @inlinable
    public func isAmongFirst(_ limit: Int, _ place: HeapPlace) -> Bool {
        let node = nodes[slots[place.slot].position]
        var before = 0
        var open = [0]
        while before < limit, let position = open.popLast() {
            // What stands below a node comes after it.
            guard position < nodes.count, nodes[position] < node else { continue }
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
            guard position < nodes.count, best.map({ nodes[position] < $0 }) ?? true else { continue }
            if slots[nodes[position].slot].element.map(fits) == true {
                best = nodes[position]
            } else {
                open += [2 * position + 1, 2 * position + 2]
            }
        }
        return best.flatMap { slots[$0.slot].element }
    }

    @inlinable
    mutating func put(_ node: Node, at position: Int) {
        if position > 0, node < nodes[(position - 1) / 2] {
            rise(node, from: position)
        } else {
            sink(node, from: position)
        }
    }

    @inlinable
    mutating func rise(_ node: Node, from start: Int) {
        var position = start
        while position > 0, node < nodes[(position - 1) / 2] {
            set(nodes[(position - 1) / 2], at: position)
            position = (position - 1) / 2
        }
        set(node, at: position)
    }

    @inlinable
    mutating func sink(_ node: Node, from start: Int) {
        var position = start
        while 2 * position + 1 < nodes.count {
            var child = 2 * position + 1
            if child + 1 < nodes.count, nodes[child + 1] < nodes[child] { child += 1 }
            guard nodes[child] < node else { break }
            set(nodes[child], at: position)
            position = child
        }
        set(node, at: position)
    }

    @inlinable
    mutating func set(_ node: Node, at position: Int) {
        nodes[position] = node
        slots[node.slot].position = position
    }
}

extension Heap: Sendable where Key: Sendable, Element: Sendable {}
extension Heap.Node: Sendable where Key: Sendable, Element: Sendable {}
extension Heap.Slot: Sendable where Element: Sendable {}
