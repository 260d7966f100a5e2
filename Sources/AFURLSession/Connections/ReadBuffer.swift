import AFLoop
import Foundation

/// The memory into which every connection of a loop reads, one at a time. What it
/// holds is parsed or copied before the next read, so one page is enough for any
/// number of connections.
///
/// A body that arrives in large pieces is not copied either: its page is lent to
/// whoever receives it, and comes back when that is done with it.
final class ReadBuffer {
    /// Below 64 KiB a download costs half as much again; above 256 KiB nothing is won.
    static let size = 256 << 10
    /// A loan keeps a whole page away, so small pieces are copied.
    private static let leastLoan = ReadBuffer.size / 2

    @exclusivity(unchecked) private var page = ReadPage()
    @exclusivity(unchecked) private var isLent = false
    private let spares = Lock<[ReadPage]>([])

    /// For one read. What the last one left in it is gone.
    func forReading() -> UnsafeMutableRawBufferPointer {
        if isLent {
            page = blankPage()
            isLent = false
        }
        return page.bytes
    }

    /// A page for somebody who gathers small pieces in it.
    func blankPage() -> ReadPage {
        spares.withLock { $0.popLast() } ?? ReadPage()
    }

    /// What was gathered on a blank page. The page comes back when the loan is gone.
    func lend(_ page: ReadPage, count: Int) -> ReadLoan {
        ReadLoan(page, UnsafeRawBufferPointer(rebasing: page.bytes[..<count]), spares)
    }

    /// Lends what was read, if it is a large part of a page and not lent already. The
    /// bytes stay where they are until the loan is gone, and until the next read.
    func lend(_ bytes: UnsafeRawBufferPointer) -> ReadLoan? {
        guard bytes.count >= ReadBuffer.leastLoan, !isLent, page.contains(bytes) else { return nil }
        isLent = true
        return ReadLoan(page, bytes, spares)
    }
}

/// Fixed memory that threads hand on to each other, one owner at a time.
final class ReadPage: Sendable {
    private let address = UInt(
        bitPattern: UnsafeMutableRawPointer.allocate(byteCount: ReadBuffer.size, alignment: 64)
    )

    deinit {
        UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }

    var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: ReadBuffer.size)
    }

    func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let start = UInt(bitPattern: bytes.baseAddress)
        return start >= address && start + UInt(bytes.count) <= address + UInt(ReadBuffer.size)
    }

    /// Where bytes of this page are in it.
    func range(of bytes: UnsafeRawBufferPointer) -> Range<Int> {
        let start = Int(UInt(bitPattern: bytes.baseAddress) - address)
        return start..<(start + bytes.count)
    }
}

/// A part of a page that belongs to its reader. The page goes back with the last
/// reference.
final class ReadLoan: Sendable {
    /// Pages that are kept for the next loans.
    private static let spareLimit = 8

    private let page: ReadPage
    private let range: Range<Int>
    private let spares: Lock<[ReadPage]>

    fileprivate init(_ page: ReadPage, _ bytes: UnsafeRawBufferPointer, _ spares: Lock<[ReadPage]>) {
        self.page = page
        self.spares = spares
        range = page.range(of: bytes)
    }

    deinit {
        spares.withLock { [page] spares in
            if spares.count < ReadLoan.spareLimit { spares.append(page) }
        }
    }

    var count: Int { range.count }

    /// The bytes, as long as the loan is held.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: page.bytes[range]) }

    /// The bytes in pieces of at most `size`, none of them copied.
    func pieces(of size: Int) -> [Data] {
        stride(from: range.lowerBound, to: range.upperBound, by: size).map { start in
            let piece = UnsafeMutableRawBufferPointer(
                rebasing: page.bytes[start..<min(start + size, range.upperBound)]
            )
            guard let base = piece.baseAddress else { return Data() }
            return Data(bytesNoCopy: base, count: piece.count, deallocator: .custom { [self] _, _ in _ = self })
        }
    }
}
