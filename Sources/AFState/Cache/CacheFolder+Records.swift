import AFLoop
import Glibc

// Reading records, and marking them as dead.
extension CacheFolder {
    /// The payload of a record. Nil if the record is dead or gone, or if another one is there.
    func read(_ place: CachePlace, tag: UInt64) throws(SystemCallError) -> [UInt8]? {
        guard let key = segments[place.segment]?.name.key, let file = try open(place, toWrite: false) else {
            return nil
        }
        var payload = try bytes(of: file, at: place.offset, count: place.length)
        let record = payload.withUnsafeBytes { CacheRecord($0, at: place.offset, key: key) }
        guard let record, record.isLive, record.tag == tag, record.length == place.length else { return nil }
        payload.removeLast(payload.count - CacheRecord.headerLength - record.payloadLength)
        payload.removeFirst(CacheRecord.headerLength)
        return payload
    }

    /// Marks a record as dead. Once this has returned, no process reads it any more.
    func remove(_ place: CachePlace) throws(SystemCallError) {
        guard let key = segments[place.segment]?.name.key, let file = try open(place, toWrite: true) else { return }
        let header = try bytes(of: file, at: place.offset, count: CacheRecord.headerLength)
        let record = header.withUnsafeBytes { CacheRecord($0, at: place.offset, key: key) }
        guard let record, record.isLive, record.length == place.length else { return }
        var written: Int64 = 0
        try CacheFolder.write(
            [[CacheRecord.dead]],
            to: file,
            at: place.offset + CacheRecord.stateOffset,
            written: &written
        )
    }

    /// The file of a place; nil if it is gone, or too short, or not ours alone.
    private func open(_ place: CachePlace, toWrite: Bool) throws(SystemCallError) -> DiskFile? {
        guard let file = try openSegment(place.segment, toWrite: toWrite) else { return nil }
        let status = try file.status()
        let isOurs = status.isRegular && status.isPrivate && !status.isRemoved
        return isOurs && status.size >= place.offset + place.length ? file : nil
    }

    /// The bytes of a record that stands in a file, which was long enough. If it ends before them now, they may be there
    /// the next time: so the record does not count as gone.
    private func bytes(of file: DiskFile, at offset: Int, count: Int) throws(SystemCallError) -> [UInt8] {
        let bytes = try file.bytes(at: Int64(offset), count: count)
        guard bytes.count == count else { throw SystemCallError(.pread, code: EIO) }
        return bytes
    }

    private func openSegment(_ number: UInt16, toWrite: Bool) throws(SystemCallError) -> DiskFile? {
        if let active, active.number == number { return active.file }
        guard let name = segments[number]?.name.text else { return nil }
        return try unlessGone { () throws(SystemCallError) in
            toWrite ? try folder.openFile(named: name) : try folder.openFileForReading(named: name)
        }
    }

    /// Nil if there is nothing by the name that `body` uses, or if it is a link, and none of ours. What a call says of a
    /// file that is open does not count: a record that seems gone stays live.
    func unlessGone<Value>(_ body: () throws(SystemCallError) -> Value) throws(SystemCallError) -> Value? {
        do throws(SystemCallError) {
            return try body()
        } catch {
            guard error.code == ENOENT || error.code == ELOOP else { throw error }
            return nil
        }
    }

    static func write(
        _ slices: [[UInt8]],
        to file: DiskFile,
        at offset: Int,
        written: inout Int64
    ) throws(SystemCallError) {
        for slice in slices where !slice.isEmpty {
            let former = written
            var failure: SystemCallError?
            var count: Int64 = 0
            slice.withUnsafeBytes { bytes in
                do throws(SystemCallError) {
                    try file.write([bytes], at: Int64(offset) + former, written: &count)
                } catch {
                    failure = error
                }
            }
            written += count
            if let failure { throw failure }
        }
    }
}
