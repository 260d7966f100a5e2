import AFLoop
import Glibc

/// One reading of a file from its first byte to its last. Filled by the loop or by a
/// worker, one at a time; emptied by the loop.
final class FilePass: Sendable {
    /// With 64 KiB the bytes are still in the second cache when the kernel, or TLS, which
    /// seals so many at once, reads them again.
    private static let pieceSize = 64 << 10
    /// For a worker, whose every piece may mean a change of threads.
    private static let workerPieceSize = 128 << 10
    private static let capacity = 512 << 10

    enum Progress {
        case empty
        case ready
        case complete
        case failed(BodyFailure)
    }

    private struct State {
        /// Where to read next.
        var offset: Int64 = 0
        var failure: BodyFailure?
        var isAbandoned = false
        /// The last pieces had to come from the disk: more is asked for ahead of time.
        var isSlow = false
        /// Nothing was read yet, so nobody has looked at the file either.
        var isFresh = true
    }

    let file: ReadableFile
    let path: String
    let ring: ByteRing
    private let state = Lock(State())

    init(_ file: ReadableFile, _ path: String) {
        self.file = file
        self.path = path
        ring = ByteRing(capacity: min(FilePass.capacity, max(1, Int(file.identity.size))))
    }

    private var size: Int64 { file.identity.size }

    func abandon() {
        state.withLock { $0.isAbandoned = true }
    }

    // MARK: - On the loop

    var progress: Progress {
        let (offset, failure) = state.withLock { ($0.offset, $0.failure) }
        if let failure { return .failed(failure) }
        if ring.count > 0 { return .ready }
        return offset == size ? .complete : .empty
    }

    /// Whether somebody should read now. Nobody is reading.
    var wantsMore: Bool {
        let (offset, isSlow, isOver) = state.withLock { ($0.offset, $0.isSlow, $0.failure != nil || $0.isAbandoned) }
        guard offset < size, !isOver else { return false }
        return ring.count <= (isSlow || isLast(offset) ? ring.capacity / 2 : 0)
    }

    /// False if a worker has to do it.
    func readWithoutWaiting() -> Bool {
        let (offset, isFresh) = state.withLock { ($0.offset, $0.isFresh) }
        guard !isFresh, !isLast(offset), ring.count == 0 else { return false }
        ring.restartIfEmpty()
        let limit = min(Int64(FilePass.pieceSize), size - offset - Int64(FilePass.pieceSize))
        let room = ring.room(atMost: Int(limit))
        guard !room.isEmpty else { return false }
        let reading = file.readWithoutWaiting(into: room, at: offset)
        if reading == .wouldBlock { return false }
        return note(reading)
    }

    private func isLast(_ offset: Int64) -> Bool { size - offset <= Int64(FilePass.pieceSize) }

    // MARK: - On a worker

    /// Reads the first piece, where the file was opened.
    func begin() {
        fill(upTo: FilePass.pieceSize) {}
    }

    /// Reads until the ring is full or the file at its end.
    ///
    /// - Parameter announce: Called after each piece.
    func fill(_ announce: () -> Void) {
        fill(upTo: FilePass.workerPieceSize, isOnce: false, announce)
    }

    private func fill(upTo pieceSize: Int, isOnce: Bool = true, _ announce: () -> Void) {
        var isSlow = false
        while let offset = state.withLock({ $0.isAbandoned || $0.failure != nil ? nil : $0.offset }), offset < size {
            let room = ring.room(atMost: Int(min(Int64(pieceSize), size - offset)))
            guard !room.isEmpty else { break }
            guard isUnchanged() else { break }
            var reading = file.readWithoutWaiting(into: room, at: offset)
            if reading == .wouldBlock {
                isSlow = true
                reading = file.read(into: room, at: offset)
            }
            // What was read last may be younger than the look at the file before it.
            if case .bytes(let count) = reading, offset + Int64(count) == size, !isUnchanged() { break }
            guard note(reading) else { break }
            announce()
            if isOnce { break }
        }
        state.withLock { state in
            state.isSlow = isSlow
            state.isFresh = false
        }
    }

    private func isUnchanged() -> Bool {
        do throws(ReadableFile.Refusal) {
            let identity = try file.currentIdentity()
            if identity == file.identity { return true }
            fail(.changed(announced: size, found: identity.size))
        } catch {
            fail(.refused(error))
        }
        return false
    }

    // MARK: - On either

    /// False if there was nothing more to read.
    private func note(_ reading: ReadableFile.Reading) -> Bool {
        switch reading {
        case .bytes(let count) where count > 0:
            // Counted before the loop can see them, so that it never takes them for all.
            ring.filled(count)
            state.withLock { $0.offset += Int64(count) }
            return true
        case .bytes: fail(.changed(announced: size, found: state.withLock { $0.offset }))
        case .failed(let error): fail(.unreadable(error))
        case .wouldBlock: fail(.unreadable(SystemCallError(.pread, code: EAGAIN)))
        }
        return false
    }

    private func fail(_ fault: BodyFailure.FileFault) {
        state.withLock { $0.failure = $0.failure ?? .file(path: path, fault) }
    }
}
