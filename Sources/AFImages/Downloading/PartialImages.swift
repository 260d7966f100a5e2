import Foundation

/// Parts of images whose downloads broke off, in memory: 32 MiB at most, the latest ones.
final class PartialImages: Sendable {
    fileprivate struct State: Sendable {
        var parts: [(key: ImageRequestKey, part: PartialImage)] = []
        var byteCount = 0
    }

    static let room = 32 << 20

    private let state = Lock(State())
    private let pressure = Lock<MemoryPressure.Observation?>(nil)

    init(memoryPressure: MemoryPressure) {
        let observation = memoryPressure.observe { [weak self] in self?.removeAll() }
        pressure.withLock { $0 = observation }
    }

    func keep(_ part: PartialImage, for key: ImageRequestKey) {
        state.withLock { state in
            _ = state.take(key)
            state.parts.append((key, part))
            state.byteCount += part.data.count
            while state.byteCount > Self.room { state.byteCount -= state.parts.removeFirst().part.data.count }
        }
    }

    /// Hands it out, to one who goes on with it.
    func take(_ key: ImageRequestKey) -> PartialImage? { state.withLock { $0.take(key) } }

    func removeAll() {
        state.withLock { $0 = State() }
    }

    var byteCount: Int { state.withLock { $0.byteCount } }
}

extension PartialImages.State {
    fileprivate mutating func take(_ key: ImageRequestKey) -> PartialImage? {
        guard let index = parts.firstIndex(where: { $0.key == key }) else { return nil }
        let part = parts.remove(at: index).part
        byteCount -= part.data.count
        return part
    }
}
