import AFLoop
import Glibc

// The segment to which this process appends.
extension CacheFolder {
    /// How many segments of other processes are tried before a new one is made.
    private static let adoptionLimit = 16

    /// Writes the footer. A segment without one is read through.
    func seal() {
        guard let active, let segment = segments[active.number] else { return }
        self.active = nil
        segments[active.number]?.size = -1
        let footer = CacheFooter.encode(active.records, at: segment.end, key: segment.name.key)
        var written: Int64 = 0
        do throws(SystemCallError) {
            try CacheFolder.write([footer], to: active.file, at: segment.end, written: &written)
            segments[active.number]?.isSealed = true
            let status = try active.file.status()
            segments[active.number]?.allocated = Int(status.allocated)
        } catch {
            // What was written of it is no record, and is removed by the next process that appends here.
            try? active.file.truncate(to: Int64(segment.end))
        }
    }

    /// Goes on with a segment whose process has ended, so that a program that runs each minute and stores three responses
    /// does not make a file each time.
    func adopt(for length: Int) -> UInt16? {
        let free = segments.filter { !$0.value.isSealed }.sorted { $0.value.name > $1.value.name }
        for (number, segment) in free.prefix(CacheFolder.adoptionLimit) {
            guard let file = try? folder.openFile(named: segment.name.text), (try? file.lock()) != nil,
                takeOver(number, file: file)
            else { continue }
            if hasRoom(number, for: length) { return number }
            // One with much room is left to shorter records.
            if let end = segments[number]?.end, end > segmentSize / 2 { seal() } else { active = nil }
        }
        return nil
    }

    /// - Parameter file: Locked by now; so what stands in it does not change any more.
    private func takeOver(_ number: UInt16, file: DiskFile) -> Bool {
        var (records, end) = ([CacheRecord](), 0)
        do throws(SystemCallError) {
            let status = try file.status()
            guard status.isRegular, status.isPrivate, !status.isRemoved, let known = segments[number],
                status.size >= known.end
            else { return false }
            try read(number, file: file, status: status) { record in
                end = record.end
                if record.isLive { records.append(record) }
            }
            // What is known must be there again, or else bytes before it are damaged.
            guard let segment = segments[number], !segment.isSealed, segment.end == end else {
                return false
            }
            if status.size > segment.end { try file.truncate(to: Int64(segment.end)) }
            active = Active(number: number, file: file, records: records)
            return true
        } catch {
            return false
        }
    }

    func make() throws(SystemCallError) -> UInt16 {
        for _ in 0..<10 {
            let last = segments.values.lazy.map(\.name.sequence).max() ?? 0
            let random = try SystemRandom.bytes(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let name = CacheSegment.Name(sequence: last == .max ? last : last + 1, key: random)
            let file = try folder.makeNamedFile(name.text)
            // Another process may have found the file already, and have taken it over, filled or removed it.
            guard (try? file.lock()) != nil else { continue }
            let status = try file.status()
            guard !status.isRemoved, status.size == 0 else { continue }
            guard let number = add(name) else { throw SystemCallError(.open, code: EMFILE) }
            active = Active(number: number, file: file, records: [])
            return number
        }
        throw SystemCallError(.flock, code: EWOULDBLOCK)
    }
}
