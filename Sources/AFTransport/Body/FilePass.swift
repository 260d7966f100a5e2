import AFBase
import AFLoop

/// One pass over a file from its first byte to its last. The loop or a worker fills the ring, one at a time; the loop
/// empties it.
package final class FilePass: Sendable {
    /// With 64 KiB the bytes are still in the second-level cache when the kernel reads them again, or TLS, which seals
    /// so many at once.
    private static let pieceSize = 64 << 10
    /// For a worker: each of its pieces may mean a change of threads.
    private static let workerPieceSize = 128 << 10
    private static let capacity = 512 << 10

    package enum Progress {
        case empty
        case ready
        case complete
        case failed(BodyFailure)
    }

    private struct State {
        /// Where to read next.
        package var offset: Int64 = 0
        package var failure: BodyFailure?
        package var isAbandoned = false
        /// The last pieces came from the disk: the body asks for the next ones ahead of time.
        var isSlow = false
        /// Nothing was read yet, so the pass has not checked yet that the file is unchanged.
        package var isFresh = true
    }

    private let file: DiskFile
    private let path: String
    /// The status of the file when it was opened.
    private let opened: FileStatus
    package let ring: ByteRing
    private let state = Lock(State())

    private init(file: DiskFile, path: String, opened: FileStatus) {
        self.file = file
        self.path = path
        self.opened = opened
        ring = ByteRing(capacity: min(FilePass.capacity, max(1, Int(opened.size))))
    }

    /// How many bytes the request announces.
    package var size: Int64 { opened.size }

    /// Another pass over the same file. It fails if the file has changed.
    package func anew() -> FilePass { FilePass(file: file, path: path, opened: opened) }

    package func abandon() {
        state.withLock { $0.isAbandoned = true }
    }

    // MARK: - On the loop

    package var progress: Progress {
        let (offset, failure) = state.withLock { ($0.offset, $0.failure) }
        if let failure { return .failed(failure) }
        if ring.count > 0 { return .ready }
        return offset == size ? .complete : .empty
    }

    /// Whether the loop or a worker should read now. Call it only while neither reads.
    package var wantsMore: Bool {
        let (offset, isSlow, isOver) = state.withLock { ($0.offset, $0.isSlow, $0.failure != nil || $0.isAbandoned) }
        guard offset < size, !isOver else { return false }
        return ring.count <= (isSlow || isLast(offset) ? ring.capacity / 2 : 0)
    }

    /// False if a worker has to read the next piece.
    func readWithoutWaiting() -> Bool {
        let (offset, isFresh) = state.withLock { ($0.offset, $0.isFresh) }
        guard !isFresh, !isLast(offset), ring.count == 0 else { return false }
        ring.restartIfEmpty()
        let limit = min(Int64(FilePass.pieceSize), size - offset - Int64(FilePass.pieceSize))
        let room = ring.room(atMost: Int(limit))
        guard !room.isEmpty else { return false }
        do throws(SystemCallError) {
            guard let count = try file.readWithoutWaiting(into: room, at: offset) else { return false }
            return note(count)
        } catch {
            return fail(.read, cause: error)
        }
    }

    private func isLast(_ offset: Int64) -> Bool { size - offset <= Int64(FilePass.pieceSize) }

    // MARK: - On a worker

    /// Opens the file to be sent. Only regular files have a length to announce.
    package convenience init(opening path: String) throws(FileFailure) {
        let (file, status, hasLength): (DiskFile, FileStatus, Bool)
        do throws(SystemCallError) {
            file = try DiskFile(reading: path)
            status = try file.status()
            hasLength = try FilePass.hasLength(file, status: status)
        } catch {
            throw FileFailure(.open, at: path, cause: error)
        }
        guard hasLength else { throw FileFailure(status.isFolder ? .folder : .notRegular, at: path) }
        self.init(file: file, path: path, opened: status)
    }

    /// A file whose content the kernel makes while it is read, as in /proc, is regular, and says that it is empty.
    private static func hasLength(_ file: DiskFile, status: FileStatus) throws(SystemCallError) -> Bool {
        guard status.isRegular, status.size == 0 else { return status.isRegular }
        let byte = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { byte.deallocate() }
        return try file.read(into: byte, at: 0) == 0
    }

    /// Reads the first piece, on the worker that opened the file.
    package func begin() {
        fill(upTo: FilePass.pieceSize) {}
    }

    /// Reads until the ring is full or the file at its end.
    ///
    /// - Parameter announce: Called after each piece.
    package func fill(_ announce: () -> Void) {
        fill(upTo: FilePass.workerPieceSize, isOnce: false, announce: announce)
    }

    /// Closes the file for all passes over it.
    package func close() {
        try? file.close()
    }

    private func fill(upTo pieceSize: Int, isOnce: Bool = true, announce: () -> Void) {
        var isSlow = false
        while let offset = state.withLock({ $0.isAbandoned || $0.failure != nil ? nil : $0.offset }), offset < size {
            let room = ring.room(atMost: Int(min(Int64(pieceSize), size - offset)))
            guard !room.isEmpty, readPiece(into: room, at: offset, isSlow: &isSlow) else { break }
            announce()
            if isOnce { break }
        }
        state.withLock { state in
            state.isSlow = isSlow
            state.isFresh = false
        }
    }

    /// False if there was nothing to read, or the request must not send it.
    private func readPiece(into room: UnsafeMutableRawBufferPointer, at offset: Int64, isSlow: inout Bool) -> Bool {
        do throws(SystemCallError) {
            guard try isUnchanged() else { return false }
            let count: Int
            if let inMemory = try file.readWithoutWaiting(into: room, at: offset) {
                count = inMemory
            } else {
                isSlow = true
                count = try file.read(into: room, at: offset)
            }
            // The file may have changed between the check and the read: check once more before the last piece counts.
            if offset + Int64(count) == size, try !isUnchanged() { return false }
            return note(count)
        } catch {
            return fail(.read, cause: error)
        }
    }

    private func isUnchanged() throws(SystemCallError) -> Bool {
        let status = try file.status()
        return status.isUnchanged(since: opened) || fail(.changed(announced: size, found: status.size))
    }

    // MARK: - On either

    /// False if there was nothing more to read.
    private func note(_ count: Int) -> Bool {
        guard count > 0 else { return fail(.changed(announced: size, found: state.withLock { $0.offset })) }
        // The ring counts the bytes before the offset moves on. Else the loop could find an empty ring and the last
        // offset, and take the body for complete.
        ring.filled(count)
        state.withLock { $0.offset += Int64(count) }
        return true
    }

    /// Always false, for the caller to return.
    private func fail(_ fault: FileFailure.Fault, cause: SystemCallError? = nil) -> Bool {
        state.withLock { $0.failure = $0.failure ?? .file(FileFailure(fault, at: path, cause: cause)) }
        return false
    }
}
