public import Synchronization

/// A reference that is set once: the first thread wins.
///
/// Does what `AtomicLazyReference` does, which costs 650 instructions to read.
///
/// Public and inlinable as `Lock` is: unspecialized, each use costs an allocation.
public struct OnceReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The address of the object, which is retained; 0 for none.
    @usableFromInline
    let address = Atomic<UInt>(0)

    /// Has no object yet.
    @inlinable
    public init() {}

    /// The object; nil as long as there is none.
    @inlinable
    public var value: Object? { Self.object(at: address.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Keeps `object`, unless there is one already; returns the one that is there.
    @inlinable
    public func set(_ object: Object) -> Object {
        let retained = Unmanaged.passRetained(object)
        let (isFirst, present) = address.compareExchange(
            expected: 0,
            desired: UInt(bitPattern: retained.toOpaque()),
            ordering: .acquiringAndReleasing
        )
        guard !isFirst, let present = Self.object(at: present) else { return object }
        retained.release()
        return present.takeUnretainedValue()
    }

    @inlinable
    static func object(at address: UInt) -> Unmanaged<Object>? {
        UnsafeRawPointer(bitPattern: address).map(Unmanaged.fromOpaque)
    }

    @inlinable
    deinit {
        Self.object(at: address.load(ordering: .acquiring))?.release()
    }
}
