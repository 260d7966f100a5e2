// Public and inlinable as `Lock` is: unspecialized, making one costs 360 instructions.
/// Carries a loop-confined value through code that runs on other threads. Only the loop's thread can open it.
public struct LoopBound<Value>: @unchecked Sendable {
    /// The loop whose value this is.
    public let loop: EventLoop
    @usableFromInline
    let stored: Value

    /// For values that no thread has used yet.
    @inlinable
    public init(_ value: sending Value, on loop: EventLoop) {
        self.loop = loop
        stored = value
    }

    /// For values that are on the loop already and are about to travel.
    @inlinable
    public init(confined value: Value, on loop: EventLoop) {
        loop.preconditionOnLoop()
        self.loop = loop
        stored = value
    }

    /// Makes a value that refers to this one, on any thread. `make` may keep it, and do nothing else with it.
    @inlinable
    public func joined<Other>(by make: (Value) -> Other) -> LoopBound<Other> {
        LoopBound<Other>(joining: make(stored), on: loop)
    }

    @usableFromInline
    init(joining value: Value, on loop: EventLoop) {
        self.loop = loop
        stored = value
    }

    /// The check stays on in release builds: it costs about a nanosecond, and it
    /// is what makes the confinement a fact instead of a convention.
    @inlinable
    public var value: Value {
        loop.preconditionOnLoop()
        return stored
    }
}
