import AFLoop
import Foundation

/// A response's body in memory.
struct CollectedBody {
    /// How much to reserve at first, and how many times what has come later, of an announced length: a server that
    /// announces much may never send it.
    private static let firstReservation = 64 << 10
    private static let growth = 8
    /// From this length on the pages of a body cost more than its bytes.
    private static let longBody = 32 << 10

    private(set) var data = Data()
    private var reserved = 0

    /// Adds a part of the body. The load fails if the body becomes longer than the session allows.
    mutating func append(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        let limit = load.session.settings.maximumBodyInMemory
        let length = data.count + bytes.count
        guard length <= limit else { return load.fail(.bodyTooLong(limit: limit)) }
        if length > CollectedBody.longBody { FreedMemory.keep() }
        if length > reserved { reserve(length, announced: min(Int(clamping: load.expectedBodyLength), limit)) }
        if data.isEmpty, reserved == length { data = Data(bytes) } else { data.append(contentsOf: bytes) }
    }

    private mutating func reserve(_ length: Int, announced: Int) {
        let most = max(CollectedBody.firstReservation, CollectedBody.growth * length)
        reserved = max(length, min(announced, most))
        // What comes without an announcement grows as `Data` does.
        guard reserved > length else { return }
        if data.isEmpty { data = Data(capacity: reserved) } else { data.reserveCapacity(reserved) }
    }

    /// Takes the body out.
    mutating func take() -> Data {
        var taken = Data()
        swap(&taken, &data)
        reserved = 0
        return taken
    }
}
