import AFBase
import AFLoop
package import Foundation

/// The memory into which every connection of a loop reads, one at a time. A connection parses or copies what it read
/// before the next read, so one page is enough for any number of connections.
///
/// A body that arrives in large pieces is not copied either: the buffer lends its part of the page to the receiver, and
/// the next read goes behind it. A page comes back when all receivers are done with it.
package final class ReadBuffer {
    /// Below 64 KiB a download costs half as much again; above 256 KiB nothing is won.
    package static let size = 256 << 10
    /// A loan may keep a whole page away, so small pieces are copied.
    private static let leastLoan = ReadBuffer.size / 4
    private static let alignment = 64

    @exclusivity(unchecked) private var page = ReadPage()
    /// How many bytes of the page are lent, counted from its beginning.
    @exclusivity(unchecked) private var lentCount = 0
    /// Keeps the page in use as long as a part of it is lent.
    @exclusivity(unchecked) private var stay: PageStay?
    private let spares = Lock<[ReadPage]>([])

    /// The memory for one read. It overwrites what the last read left and did not lend.
    package func forReading() -> UnsafeMutableRawBufferPointer {
        guard lentCount > 0 else { return page.bytes }
        if isKnownUniquelyReferenced(&stay) {
            // All loans are over: go on with this page, which is in the CPU's cache, where a page that was away would
            // not be.
            lentCount = 0
        } else if ReadBuffer.size - lentCount < ReadBuffer.leastLoan {
            page = blankPage()
            stay = nil
            lentCount = 0
        }
        return UnsafeMutableRawBufferPointer(rebasing: page.bytes[lentCount...])
    }

    /// A page for a caller that gathers small pieces in it.
    package func blankPage() -> ReadPage { spares.withLock { $0.popLast() } ?? ReadPage() }

    /// What was gathered on a blank page. The page comes back when the loan is gone.
    package func lend(_ page: ReadPage, count: Int) -> ReadLoan {
        ReadLoan(stay: PageStay(page: page, spares: spares), range: 0..<count)
    }

    /// Lends what was read, if it is a large part of a page and not lent already. The
    /// bytes stay where they are until the loan is gone, and until the next read.
    package func lend(_ bytes: UnsafeRawBufferPointer) -> ReadLoan? {
        guard bytes.count >= ReadBuffer.leastLoan, page.contains(bytes) else { return nil }
        let range = page.place(of: bytes)
        guard range.lowerBound >= lentCount else { return nil }
        let stay = stay ?? PageStay(page: page, spares: spares)
        self.stay = stay
        lentCount = min(range.upperBound.roundedUp(to: ReadBuffer.alignment), ReadBuffer.size)
        return ReadLoan(stay: stay, range: range)
    }
}

extension Int {
    fileprivate func roundedUp(to step: Int) -> Int { (self + step - 1) / step * step }
}

/// Fixed memory that threads hand on to each other, one owner at a time.
package final class ReadPage: Sendable {
    private let address = UInt(
        bitPattern: UnsafeMutableRawPointer.allocate(byteCount: ReadBuffer.size, alignment: 64)
    )

    deinit {
        UnsafeMutableRawPointer(bitPattern: address)?.deallocate()
    }

    package var bytes: UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(bitPattern: address), count: ReadBuffer.size)
    }

    package func contains(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let start = UInt(bitPattern: bytes.baseAddress)
        return start >= address && start + UInt(bytes.count) <= address + UInt(ReadBuffer.size)
    }

    /// Where bytes of this page are in it.
    package func place(of bytes: UnsafeRawBufferPointer) -> Range<Int> {
        let start = Int(UInt(bitPattern: bytes.baseAddress) - address)
        return start..<(start + bytes.count)
    }
}

/// Holds a page in use. With the last reference the page goes back to the spares.
private final class PageStay: Sendable {
    /// Pages that are kept for the next loans: as many as a download has under way, so that none is given back and asked
    /// for again, which leaves the heap in pieces.
    private static let spareLimit = 12

    let page: ReadPage
    private let spares: Lock<[ReadPage]>

    init(page: ReadPage, spares: Lock<[ReadPage]>) {
        self.page = page
        self.spares = spares
    }

    deinit {
        spares.withLock { [page] spares in
            if spares.count < PageStay.spareLimit { spares.append(page) }
        }
    }
}

/// A part of a page that belongs to its reader.
package final class ReadLoan: Sendable {
    private let stay: PageStay
    private let range: Range<Int>

    fileprivate init(stay: PageStay, range: Range<Int>) {
        self.stay = stay
        self.range = range
    }

    package var count: Int { range.count }

    /// The bytes, as long as the loan is held.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: stay.page.bytes[range]) }

    /// The bytes in pieces of at most `size`, none of them copied.
    package func pieces(of size: Int) -> [Data] {
        stride(from: range.lowerBound, to: range.upperBound, by: size).map { start in
            let piece = UnsafeMutableRawBufferPointer(
                rebasing: stay.page.bytes[start..<min(start + size, range.upperBound)]
            )
            guard let base = piece.baseAddress else { return Data() }
            return Data(bytesNoCopy: base, count: piece.count, deallocator: .custom { [self] _, _ in _ = self })
        }
    }
}
