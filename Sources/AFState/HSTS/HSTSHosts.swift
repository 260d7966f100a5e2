import AFBase
import FoundationEssentials

/// The hosts of a store, and which of them goes when a server has it learn too many.
///
/// What servers have the store learn is limited for each site as well: a site that makes up names loses its own, and
/// needs as many sites as the store has room for to drive out another. A host is found in constant time; to learn or
/// forget one is logarithmic in their number.
struct HSTSHosts: Sendable {
    /// A server cannot make the store remember more hosts.
    static let capacity = 10_000
    /// Nor a site more of its own.
    static let capacityForSite = 100

    private struct Known: Sendable {
        var entry: HSTSStore.Entry
        let site: String
        let place: HeapPlace
        let placeInSite: HeapPlace
    }

    private struct Site: Sendable {
        /// The one that goes first comes first.
        var hosts = Heap<Worth, String>()
        /// Among the others.
        let place: HeapPlace
    }

    /// Names far below a site's own can be made up by its guests, and go first; of those on one level, those that end
    /// first.
    private struct Worth: Comparable, Sendable {
        let depth: Int
        let ends: Date

        init(_ entry: HSTSStore.Entry) {
            depth = entry.host.utf8.count { $0 == UInt8(ascii: ".") }
            ends = entry.expires
        }

        static func < (one: Worth, other: Worth) -> Bool { (other.depth, one.ends) < (one.depth, other.ends) }
    }

    private var known: [String: Known] = [:]
    private var sites: [String: Site] = [:]
    /// The host that ends first comes first.
    private var ends = Heap<Date, String>()
    /// The site with the most hosts comes first.
    private var sizes = Heap<Int, String>()

    var isEmpty: Bool { known.isEmpty }
    var entries: [HSTSStore.Entry] { known.values.map(\.entry) }
    /// How many sites take memory.
    var siteCount: Int { sizes.count }

    subscript(host: String) -> HSTSStore.Entry? { known[host]?.entry }

    /// Adds a host, or replaces its entry.
    ///
    /// - Parameter site: Of the host. Asked for only if the host is new.
    mutating func insert(_ entry: HSTSStore.Entry, site: (String) -> String) {
        if let former = known[entry.host] {
            known[entry.host]?.entry = entry
            ends.move(former.place, to: entry.expires)
            sites[former.site]?.hosts.move(former.placeInSite, to: Worth(entry))
        } else {
            add(entry, site: site(entry.host))
        }
    }

    /// The same at a server's word: other hosts go if there are too many.
    mutating func learn(_ entry: HSTSStore.Entry, at now: Date, site: (String) -> String) {
        guard known[entry.host] == nil else { return insert(entry, site: site) }
        let site = site(entry.host)
        makeRoom(for: site, at: now)
        add(entry, site: site)
    }

    mutating func remove(_ host: String) {
        guard let former = known.removeValue(forKey: host) else { return }
        ends.remove(former.place)
        sites[former.site]?.hosts.remove(former.placeInSite)
        updateSize(of: former.site)
    }

    private mutating func add(_ entry: HSTSStore.Entry, site: String) {
        let placeInSite = sites[site, default: Site(place: sizes.add(site, 0))].hosts.add(entry.host, Worth(entry))
        let place = ends.add(entry.host, entry.expires)
        known[entry.host] = Known(entry: entry, site: site, place: place, placeInSite: placeInSite)
        updateSize(of: site)
    }

    private mutating func updateSize(of name: String) {
        guard let site = sites[name] else { return }
        if site.hosts.isEmpty {
            sizes.remove(site.place)
            sites[name] = nil
        } else {
            sizes.move(site.place, to: -site.hosts.count)
        }
    }

    private mutating func makeRoom(for site: String, at now: Date) {
        if sites[site].map({ $0.hosts.count >= HSTSHosts.capacityForSite }) == true {
            removeFirst(of: site)
        } else if known.count >= HSTSHosts.capacity {
            // A site with many hosts loses one of them before another site loses its only one.
            if sizes.firstKey == -1 || ends.firstKey.map({ $0 <= now }) == true {
                if let first = ends.first { remove(first) }
            } else if let largest = sizes.first {
                removeFirst(of: largest)
            }
        }
    }

    private mutating func removeFirst(of site: String) {
        if let first = sites[site]?.hosts.first { remove(first) }
    }
}
