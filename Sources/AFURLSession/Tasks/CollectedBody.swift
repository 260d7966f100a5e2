import Foundation

/// A response's body in memory.
struct CollectedBody {
    /// The most memory to reserve for an announced length: a server that announces much may never send it.
    private static let maximumReservation: Int64 = 64 << 10

    private(set) var data = Data()

    /// Adds a part of the body. The load fails if the body becomes longer than the session allows.
    mutating func append(_ bytes: UnsafeRawBufferPointer, of load: Load) {
        let limit = load.session.settings.maximumBodyInMemory
        guard data.count + bytes.count <= limit else { return load.fail(.bodyTooLong(limit: limit)) }
        guard data.isEmpty else { return data.append(contentsOf: bytes) }
        data = Data(bytes)
        let announced = min(load.expectedBodyLength, CollectedBody.maximumReservation)
        if announced > bytes.count { data.reserveCapacity(Int(announced)) }
    }

    /// Takes the body out.
    mutating func take() -> Data {
        var taken = Data()
        swap(&taken, &data)
        return taken
    }
}
