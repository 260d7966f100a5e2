/// What the disk has to do.
package enum CacheWork: UInt8 {
    case nothing
    /// Something is to be written, which may wait.
    case writing
    /// Something is to be removed, which does not wait.
    case removing
}

/// The records to remove from the disk before anything else is done there.
struct CacheRemovals {
    /// If there are more, everything is removed.
    private static let limit = 10_000

    private(set) var isAll = false
    /// Of URLs.
    private(set) var tags: Set<UInt64> = []
    private(set) var places: [CachePlace: UInt64] = [:]

    var isEmpty: Bool { !isAll && tags.isEmpty && places.isEmpty }

    func contains(_ tag: UInt64) -> Bool { isAll || tags.contains(tag) }

    mutating func add(tag: UInt64) {
        guard !isAll else { return }
        tags.insert(tag)
        if tags.count > CacheRemovals.limit { self = CacheRemovals(isAll: true) }
    }

    mutating func add(_ place: CachePlace, tag: UInt64) {
        guard !isAll else { return }
        places[place] = tag
        if places.count > CacheRemovals.limit { self = CacheRemovals(isAll: true) }
    }

    /// Marks all records of the same URLs in their place.
    mutating func forgetPlaces() {
        let former = places
        places = [:]
        for tag in former.values { add(tag: tag) }
    }

    mutating func add(_ other: CacheRemovals) {
        if other.isAll { self = CacheRemovals(isAll: true) }
        for tag in other.tags { add(tag: tag) }
        for (place, tag) in other.places { add(place, tag: tag) }
    }
}
