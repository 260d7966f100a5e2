@testable import AFTransport
@testable import AFURLSession

extension DownloadTests {
    /// What waits for a write, in pieces as a connection reads them.
    struct Gathering {
        private static let body = pattern(2_500_000)

        private let buffer = ReadBuffer()

        private func joined(_ pieces: [LentBytes]) -> Data { pieces.reduce(into: Data()) { $0 += $1.bytes } }

        @Test(arguments: [1000, 65_536, 100_000, ReadBuffer.size], [0, 1, 777_777] as [Int64])
        func `a write of full size ends at a boundary of the file, and the bytes behind it wait`(
            size: Int,
            offset: Int64
        ) {
            var gatherer = DownloadGatherer(at: offset)
            var (rest, written) = (Self.body[...], Data())
            while !rest.isEmpty {
                let page = buffer.forReading()
                let piece = rest.prefix(min(size, page.count))
                page.copyBytes(from: piece)
                gatherer.add(UnsafeRawBufferPointer(rebasing: page[..<piece.count]), from: buffer)
                rest = rest.dropFirst(piece.count)
                guard gatherer.isFull else { continue }
                written += joined(gatherer.takeFull(buffer))
                #expect(gatherer.offset == offset + Int64(written.count))
                #expect(gatherer.offset % Int64(DownloadGatherer.writeSize) == 0)
                #expect(gatherer.count == Self.body.count - rest.count - written.count && !gatherer.isFull)
            }
            written += joined(gatherer.takeAll(buffer))
            #expect(written == Self.body)
            #expect(gatherer.count == 0 && gatherer.offset == offset + Int64(written.count))
        }
    }
}
