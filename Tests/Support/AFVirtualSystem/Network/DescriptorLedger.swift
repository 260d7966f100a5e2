/// Numbers as a kernel gives them out, the lowest free one first, and what went
/// wrong with them.
package struct DescriptorLedger {
    private var isOpen: [Bool] = []
    package private(set) var opened = 0
    package private(set) var closed = 0
    package private(set) var violations: [String] = []

    package var open: Int { opened - closed }

    mutating func take() -> Int32 {
        opened += 1
        guard let free = isOpen.firstIndex(of: false) else {
            isOpen.append(true)
            return Int32(isOpen.count - 1)
        }
        isOpen[free] = true
        return Int32(free)
    }

    mutating func release(_ descriptor: Int32) {
        guard isOpen.indices.contains(Int(descriptor)), isOpen[Int(descriptor)] else {
            violations.append("descriptor \(descriptor) was closed twice")
            return
        }
        isOpen[Int(descriptor)] = false
        closed += 1
    }
}
