import AFBase
import AFLoop
import Foundation

@testable import AFTransport

struct ReadBufferTests {
    private let buffer = ReadBuffer()

    @Test func `small pieces, and those of another page, are not lent`() {
        let page = UnsafeRawBufferPointer(buffer.forReading())
        let stranger = UnsafeMutableRawBufferPointer.allocate(byteCount: ReadBuffer.size, alignment: 64)
        defer { stranger.deallocate() }

        #expect(buffer.lend(UnsafeRawBufferPointer(rebasing: page[..<1000])) == nil)
        #expect(buffer.lend(UnsafeRawBufferPointer(stranger)) == nil)
        #expect(buffer.lend(UnsafeRawBufferPointer(rebasing: page[100...])) != nil)
    }

    @Test func `a lent page is left alone until it comes back`() {
        let first = buffer.forReading()
        first.copyBytes(from: (0..<first.count).lazy.map { UInt8(truncatingIfNeeded: $0 >> 8) })
        var pieces = buffer.lend(UnsafeRawBufferPointer(first))?.pieces(of: 64 << 10) ?? []
        #expect(pieces.map(\.count) == [65536, 65536, 65536, 65536])
        // Lent already: a second piece of the same read is copied.
        #expect(buffer.lend(UnsafeRawBufferPointer(first)) == nil)

        let second = buffer.forReading()
        #expect(second.count == ReadBuffer.size)
        second.initializeMemory(as: UInt8.self, repeating: 0xEE)

        #expect(second.baseAddress != first.baseAddress)
        #expect(pieces[3].startIndex == 0 && pieces[3][0] == UInt8(truncatingIfNeeded: (3 << 16) >> 8))
        #expect(!pieces.contains { $0.contains(0xEE) && $0[0] == 0xEE })

        pieces.removeFirst(3)
        _ = buffer.lend(UnsafeRawBufferPointer(second))
        let third = buffer.forReading()
        #expect(third.baseAddress != first.baseAddress)

        pieces = []
        _ = buffer.lend(UnsafeRawBufferPointer(third))
        #expect(buffer.forReading().baseAddress != nil)
    }

    @Test func `the next read goes behind what is lent, as long as there is room worth it`() {
        let first = buffer.forReading()
        first.copyBytes(from: repeatElement(1, count: first.count))
        var loans = [buffer.lend(UnsafeRawBufferPointer(rebasing: first[10..<100_000]))]
        let second = buffer.forReading()

        #expect(second.baseAddress == first.baseAddress.map { $0 + 100_032 })
        #expect(second.count == first.count - 100_032)
        second.copyBytes(from: repeatElement(2, count: second.count))
        loans.append(buffer.lend(UnsafeRawBufferPointer(rebasing: second[..<100_000])))
        // Too little is left, and one of the two is still away.
        loans.removeFirst()
        let third = buffer.forReading()
        #expect(third.count == ReadBuffer.size && third.baseAddress != first.baseAddress)
        third.copyBytes(from: repeatElement(3, count: third.count))

        #expect(loans[0]?.bytes.allSatisfy { $0 == 2 } == true)
        // The first is no longer in use: it is the next.
        loans = [buffer.lend(UnsafeRawBufferPointer(third))]
        #expect(buffer.forReading().baseAddress == first.baseAddress)
    }

    @Test func `a page of which all came back is read into from its beginning`() {
        let first = buffer.forReading()
        var loan = buffer.lend(UnsafeRawBufferPointer(first))
        #expect(loan?.count == first.count)
        loan = nil

        #expect(buffer.forReading().baseAddress == first.baseAddress)
    }
}
