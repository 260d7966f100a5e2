import AFBase
import AFLoop

/// What a host wants that must not dial before another has closed a connection.
enum HostWant: Comparable {
    /// A request waits, and there is no connection at all.
    case first
    case another

    init(of host: HostPool) {
        self = host.isDestitute ? .first : .another
    }
}

/// The hosts that have a date, the earliest first.
///
/// The connections of a host come to rest and are taken again with every request. So a host keeps its place as long as
/// its date only becomes later, or goes: `first` puts right what stands in front. Of equal dates, that of the host goes
/// first that was added first: a simulated run must be the same each time.
///
/// A host whose date becomes later costs nothing until it stands in front; all else is logarithmic in their number.
struct HostSchedule {
    /// What has the date.
    enum Subject {
        /// When the first idle connection may not be used any more.
        case idleExpiry
        /// When the first dial was begun that no request waits for.
        case unclaimedDial
    }

    private let subject: Subject
    private var hosts = Heap<Int64, HostPool>()

    init(of subject: Subject) {
        self.subject = subject
    }

    /// A host has this date, perhaps beside later ones.
    mutating func add(_ host: HostPool, date: LoopInstant) {
        guard let place = host[subject] else {
            host[subject] = hosts.add(host, date.nanoseconds)
            return
        }
        if date.nanoseconds < hosts.key(of: place) { hosts.move(place, to: date.nanoseconds) }
    }

    /// The host with the earliest date; nil if none has one.
    mutating func first() -> (host: HostPool, date: LoopInstant)? {
        while let host = hosts.first, let place = host[subject] {
            guard let date = host.date(of: subject) else {
                remove(host)
                continue
            }
            if hosts.key(of: place) == date.nanoseconds { return (host, date) }
            hosts.move(place, to: date.nanoseconds)
        }
        return nil
    }

    mutating func remove(_ host: HostPool) {
        if let place = host[subject] { hosts.remove(place) }
        host[subject] = nil
    }
}

extension HostPool {
    fileprivate func date(of subject: HostSchedule.Subject) -> LoopInstant? {
        switch subject {
        case .idleExpiry: firstExpiry
        case .unclaimedDial: oldestUnclaimedDial
        }
    }

    fileprivate subscript(subject: HostSchedule.Subject) -> HeapPlace? {
        get {
            switch subject {
            case .idleExpiry: restingPlace
            case .unclaimedDial: unclaimedPlace
            }
        }
        set {
            switch subject {
            case .idleExpiry: restingPlace = newValue
            case .unclaimedDial: unclaimedPlace = newValue
            }
        }
    }
}
