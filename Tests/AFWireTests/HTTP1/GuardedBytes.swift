import Glibc

/// Bytes at the edge of a page, beside pages that end the program when they are read.
final class GuardedBytes {
    enum Edge: CaseIterable {
        /// Nothing before the bytes can be read.
        case start
        /// Nothing after them.
        case end
    }

    private static let page = sysconf(CInt(_SC_PAGESIZE))

    private let pages: UnsafeMutableRawPointer
    private let bytes: UnsafeRawBufferPointer

    /// - Parameter content: Of at most one page.
    init?(_ content: [UInt8], at edge: Edge) {
        let page = Self.page
        guard content.count <= page,
            let pages = mmap(nil, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), pages != MAP_FAILED,
            mprotect(pages + page, page, PROT_READ | PROT_WRITE) == 0
        else { return nil }
        self.pages = pages
        let start = pages + (edge == .start ? page : 2 * page - content.count)
        start.copyMemory(from: content, byteCount: content.count)
        bytes = UnsafeRawBufferPointer(start: start, count: content.count)
    }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withExtendedLifetime(self) { try body(bytes) }
    }

    deinit { munmap(pages, 3 * Self.page) }
}
