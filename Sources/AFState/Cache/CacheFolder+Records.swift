import AFLoop
import Glibc

// Reading records, and marking them as dead.
extension CacheFolder {
    /// The payload of a record. Nil if the record is dead or gone, or if another one is there.
    func read(_ place: CachePlace, tag: UInt64) throws(SystemCallError) -> [UInt8]? {
        guard let key = segments[place.segment]?.name.key, let file = try open(place, toWrite: false) else {
            return nil
        }
        var payload = try file.bytes(at: Int64(place.offset), count: place.length)
        let record = payload.withUnsafeBytes { CacheRecord($0, at: place.offset, key: key) }
        guard let record, record.isLive, record.tag == tag, record.length == place.length,
            payload.count == place.length
        else { return nil }
        payload.removeLast(payload.count - CacheRecord.headerLength - record.payloadLength)
        payload.removeFirst(CacheRecord.headerLength)
        return payload
    }

    /// Marks a record as dead. Once this has returned, no process reads it any more.
    func remove(_ place: CachePlace) throws(SystemCallError) {
        guard let key = segments[place.segment]?.name.key, let file = try open(place, toWrite: true) else { return }
        let header = try file.bytes(at: Int64(place.offset), count: CacheRecord.headerLength)
        let record = header.withUnsafeBytes { CacheRecord($0, at: place.offset, key: key) }
        guard let record, record.isLive, record.length == place.length else { return }
        var written: Int64 = 0
        try CacheFolder.write([[CacheRecord.dead]], to: file, at: place.offset + CacheRecord.stateOffset, &written)
    }

    /// The file of a place; nil if it is gone, or too short, or not ours alone.
    private func open(_ place: CachePlace, toWrite: Bool) throws(SystemCallError) -> DiskFile? {
        guard let segment = segments[place.segment] else { return nil }
        do throws(SystemCallError) {
            let file: DiskFile
            if let active, active.number == place.segment {
                file = active.file
            } else {
                let name = segment.name.text
                file = toWrite ? try folder.openFile(named: name) : try folder.openFileForReading(named: name)
            }
            let status = try file.status()
            let isOurs = status.isRegular && status.isPrivate && !status.isRemoved
            return isOurs && status.size >= place.offset + place.length ? file : nil
        } catch {
            guard error.code == ENOENT || error.code == ELOOP else { throw error }
            return nil
        }
    }

    static func write(
        _ slices: [[UInt8]],
        to file: DiskFile,
        at offset: Int,
        _ written: inout Int64
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
