import AFTransport
import Foundation

/// A piece of a body, to read byte by byte: memory that stays where it is.
final class StreamPiece: Sendable {
    private let loan: ReadLoan?
    private let own: UInt
    private let count: Int

    /// Takes memory that the loop lends.
    init(_ loan: ReadLoan) {
        self.loan = loan
        own = 0
        count = loan.count
    }

    init(copying bytes: UnsafeRawBufferPointer) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        memory.copyMemory(from: bytes)
        own = UInt(bitPattern: memory.baseAddress)
        count = bytes.count
        loan = nil
    }

    deinit {
        UnsafeMutableRawPointer(bitPattern: own)?.deallocate()
    }

    /// Valid as long as the piece exists.
    var bytes: UnsafeRawBufferPointer {
        loan?.bytes ?? UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: own), count: count)
    }

    /// The bytes from `start` on, without a copy.
    func data(from start: Int) -> Data {
        let part = UnsafeMutableRawBufferPointer(mutating: UnsafeRawBufferPointer(rebasing: bytes[start...]))
        guard let base = part.baseAddress, !part.isEmpty else { return Data() }
        return Data(bytesNoCopy: base, count: part.count, deallocator: .custom { [self] _, _ in _ = self })
    }
}
