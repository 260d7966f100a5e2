import AFNetworking

extension MainQueue {
    /// Calls `body` on the main queue, after what was asked for before.
    static func onMainActor(_ body: @escaping @MainActor @Sendable () -> Void) {
        async { MainActor.assumeIsolated(body) }
    }
}
