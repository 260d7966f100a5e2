import AFLoop
import Glibc

// Appending records.
extension CacheFolder {
    /// Appends records, as many with one call as fit into one segment.
    ///
    /// If this fails, the records that were written before are found by the next ``refresh()``.
    func append(_ batch: [(tag: UInt64, payload: [UInt8])]) throws(SystemCallError) -> [CachePlace] {
        var (added, rest) = ([CacheDiskIndex.Entry](), batch[...])
        do throws(SystemCallError) {
            while let first = rest.first {
                guard first.payload.count <= CacheFolder.payloadLimit else {
                    throw SystemCallError(.pwrite, code: EFBIG)
                }
                let number = try makeRoom(for: CacheRecord.length(ofPayload: first.payload.count))
                let part = fitting(rest, in: number)
                added += try write(part, to: number)
                rest = rest.dropFirst(part.count)
            }
        } catch {
            unreported.added = added + unreported.added
            throw error
        }
        return added.map(\.place)
    }

    /// - Returns: The number of the segment that has room for a record of this length.
    private func makeRoom(for length: Int) throws(SystemCallError) -> UInt16 {
        if let active {
            try checkActive(active)
            if let number = self.active?.number, hasRoom(number, for: length) { return number }
            seal()
        }
        try look()
        if let number = adopt(for: length) { return number }
        return try make()
    }

    func hasRoom(_ number: UInt16, for length: Int) -> Bool {
        guard let end = segments[number]?.end else { return false }
        return end == 0 || (end + length <= segmentSize && end < CachePlace.offsetLimit)
    }

    private func fitting(
        _ rest: ArraySlice<(tag: UInt64, payload: [UInt8])>,
        in number: UInt16
    ) -> ArraySlice<(tag: UInt64, payload: [UInt8])> {
        var end = segments[number]?.end ?? 0
        var count = 0
        for record in rest {
            end += CacheRecord.length(ofPayload: record.payload.count)
            guard count == 0 || end <= segmentSize else { break }
            count += 1
        }
        return rest.prefix(count)
    }

    /// Gives up a segment that another process has removed or emptied.
    private func checkActive(_ active: Active) throws(SystemCallError) {
        let status = try active.file.status()
        guard let end = segments[active.number]?.end else { return }
        if status.isRemoved || status.size < end { return lose(active.number) }
        if status.size > end { try active.file.truncate(to: Int64(end)) }
    }

    private func write(
        _ batch: ArraySlice<(tag: UInt64, payload: [UInt8])>,
        to number: UInt16
    ) throws(SystemCallError) -> [CacheDiskIndex.Entry] {
        guard let active, let segment = segments[number] else { throw SystemCallError(.pwrite, code: EBADF) }
        var (records, slices, end) = ([CacheRecord](), [[UInt8]](), segment.end)
        for (tag, payload) in batch {
            let record = CacheRecord(tag: tag, offset: end, payloadLength: payload.count)
            records.append(record)
            slices += [record.header(key: segment.name.key), payload, record.padding]
            end = record.end
        }
        // One call, unless a copy would double what a long payload takes.
        if batch.count > 1 || end - segment.end < 1 << 16 { slices = [Array(slices.joined())] }
        var written: Int64 = 0
        do throws(SystemCallError) {
            try CacheFolder.write(slices, to: active.file, at: segment.end, written: &written)
            return note(records, in: number)
        } catch {
            // Other processes may have read the complete ones already: these stay.
            let complete = records.filter { $0.end <= segment.end + Int(written) }
            unreported.added += note(complete, in: number)
            if written > 0 { cutBack(number) }
            throw error
        }
    }

    private func note(_ records: [CacheRecord], in number: UInt16) -> [CacheDiskIndex.Entry] {
        active?.records += records
        if let end = records.last?.end { segments[number]?.end = end }
        return records.compactMap { entry($0, in: number) }
    }

    /// Removes what a write left behind the last record, or gives the segment up.
    private func cutBack(_ number: UInt16) {
        guard let active, let end = segments[number]?.end else { return }
        if (try? active.file.truncate(to: Int64(end))) == nil { self.active = nil }
    }
}
