import AFLoop
import Glibc

// How much the folder takes, and removing segments.
extension CacheFolder {
    /// What all segments take. What other processes appended counts from the next look at the folder on.
    var usage: Usage {
        noteOwn()
        return Usage(bytes: segments.values.reduce(0) { $0 + $1.allocated }, files: segments.count)
    }

    private func noteOwn() {
        guard let active, let status = try? active.file.status() else { return }
        segments[active.number]?.allocated = Int(status.allocated)
    }

    /// Removes the oldest segments until the rest fits: first those that no other living process holds, of
    /// these our own last. An owner whose segment goes makes another.
    /// Segments of others count with the length that they may have before this process looks again.
    ///
    /// - Returns: The numbers of those that were removed.
    func trim(to capacity: Int) -> [UInt16] {
        var (bytes, files) = (usage.bytes, segments.count)
        var removed: [UInt16] = []
        let reserve = min(segmentSize, max(capacity, 0) / 32)
        var excess: [UInt16: Int] = [:]
        for (number, segment) in segments where !segment.isSealed && active?.number != number {
            excess[number] = max(reserve - segment.allocated, 0)
        }
        bytes += excess.values.reduce(0, +)
        guard bytes > capacity || files > fileLimit else { return [] }
        for sparesLiving in [true, false] {
            for number in byAge() where bytes > max(capacity, 0) || files > fileLimit {
                guard let segment = segments[number], delete(number, segment: segment, unlessHeld: sparesLiving) else {
                    continue
                }
                bytes -= segment.allocated + excess[number, default: 0]
                files -= 1
                removed.append(number)
                drop(number)
            }
        }
        return removed
    }

    /// The numbers of all segments, the oldest first, our own last.
    private func byAge() -> [UInt16] {
        let others = segments.filter { $0.key != active?.number }.sorted { $0.value.name < $1.value.name }.map(\.key)
        return others + (active.map { [$0.number] } ?? [])
    }

    /// - Parameter sparesLiving: Whether a segment stays that another process holds.
    private func delete(_ number: UInt16, segment: CacheSegment, unlessHeld sparesLiving: Bool) -> Bool {
        guard !sparesLiving || segment.isSealed || number == active?.number else {
            do throws(SystemCallError) {
                // The lock is held until the file is gone, so that no process takes it over in between.
                let file = try folder.openFileForReading(named: segment.name.text)
                try file.lock()
                return withExtendedLifetime(file) { isRemoved(segment.name) }
            } catch {
                return error.code == ENOENT
            }
        }
        return isRemoved(segment.name)
    }

    private func isRemoved(_ name: CacheSegment.Name) -> Bool {
        do throws(SystemCallError) {
            try removeOrEmpty(name)
            return true
        } catch {
            return false
        }
    }

    /// A file that cannot be removed is emptied. Its process, if it lives, goes on with another one.
    private func removeOrEmpty(_ name: CacheSegment.Name) throws(SystemCallError) {
        do throws(SystemCallError) {
            try folder.remove(name.text)
        } catch {
            guard error.code != ENOENT else { return }
            let file = try folder.openFile(named: name.text)
            let status = try file.status()
            guard status.isRegular, status.isPrivate else { throw error }
            try file.truncate(to: 0)
        }
    }

    /// Removes the segment of a place, for which no more is needed than its name.
    func removeSegment(of place: CachePlace) throws(SystemCallError) {
        guard let segment = segments[place.segment] else { return }
        try removeOrEmpty(segment.name)
        drop(place.segment)
    }

    /// Removes all segments of all processes. If one cannot be removed now, the others are, and this fails.
    func removeAll() throws(SystemCallError) {
        var failure: SystemCallError?
        var names = Set(numbers.keys)
        do throws(SystemCallError) {
            names.formUnion(try folder.listed().compactMap { CacheSegment.Name($0) })
        } catch {
            failure = error
        }
        for name in names {
            do throws(SystemCallError) {
                try removeOrEmpty(name)
                if let number = numbers[name] { drop(number) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        unreported = Changes()
    }

    /// Whether a record will be among the next that a full cache loses: it is in the older half of what the folder
    /// takes, and the folder is full to three quarters. A record that is used should be appended anew then.
    func isOld(_ place: CachePlace) -> Bool {
        guard let segment = segments[place.segment] else { return false }
        var (all, older) = (0, 0)
        for other in segments.values {
            all += other.allocated
            if other.name < segment.name { older += other.allocated }
        }
        return all / 3 > capacity / 4 && older + segment.allocated <= all / 2
    }
}
