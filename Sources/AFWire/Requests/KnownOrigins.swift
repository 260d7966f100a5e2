import AFBase
import Glibc

/// The last few origins that URLs named, by their text: a program sends most of its requests to few of them.
///
/// An origin is known by the bytes from the scheme to the end of the authority. It is kept only without user
/// information, and after all of its rules were checked, so that a known text has the same endpoint as before.
enum KnownOrigins {
    private struct Origin: Sendable {
        let text: [UInt8]
        let endpoint: Endpoint

        func isNamed(_ name: UnsafeRawBufferPointer) -> Bool {
            guard text.count == name.count, let start = name.baseAddress else { return false }
            return text.withUnsafeBytes { $0.baseAddress.map { memcmp($0, start, name.count) == 0 } ?? false }
        }
    }

    private struct State: Sendable {
        var origins: [Origin] = []
        var next = 0
    }

    private static let count = 8
    private static let longest = 128
    private static let state = Lock(State())

    /// Nil if the text is not known, or if another thread looks just now: parsing is cheaper than waiting, and safe in
    /// the child of a fork.
    static func endpoint(of text: UnsafeRawBufferPointer) -> Endpoint? {
        state.withLockIfFree { state in
            state.origins.first { $0.isNamed(text) }?.endpoint
        } ?? nil
    }

    static func note(_ endpoint: Endpoint, as text: UnsafeRawBufferPointer) {
        guard text.count <= longest else { return }
        let origin = Origin(text: Array(text), endpoint: endpoint)
        state.withLockIfFree { state in
            if state.origins.count < count { return state.origins.append(origin) }
            state.origins[state.next] = origin
            state.next = (state.next + 1) % count
        }
    }
}
