import AFBase
import AFLoop
package import Dispatch

/// Writes the file of a store on a queue of its own, and gathers the changes of a moment into one write.
package final class CookieWriter: Sendable {
    private struct State {
        /// There are changes that are not in the file.
        var isDirty = false
        package var isScheduled = false
        package var error: CookieFileError?
        /// The file must not be replaced.
        var isForbidden = false
    }

    private let file: CookieFileStore?
    private let path: String
    private let delay: DispatchTimeInterval
    private let queue = DispatchQueue(label: "AFURLSession.cookies")
    private let state = Lock(State())

    /// - Parameters:
    ///   - path: The path of the file, or what the program named in its place.
    ///   - isFile: Whether the program has named a file.
    ///   - delay: How long changes are gathered.
    package init(path: String, isFile: Bool, delay: DispatchTimeInterval) {
        self.delay = delay
        self.path = path
        file = isFile ? CookieFileStore(path: path) : nil
    }

    package var error: CookieFileError? { state.withLock { $0.error } }

    /// The cookies in the file. Waits for the disk.
    package func read() -> [StoredCookie] {
        do throws(CookieFileError) {
            guard let file else { throw CookieFileError(.notAFileURL, at: path) }
            return try file.read()
        } catch {
            state.withLock { state in
                state.error = error
                state.isForbidden = !error.allowsWriting
            }
            return []
        }
    }

    /// - Parameter cookies: Called on the queue, when the file is written.
    package func scheduleWrite(_ cookies: @escaping @Sendable () -> [StoredCookie]) {
        let mustSchedule = state.withLock { state in
            state.isDirty = true
            guard !state.isScheduled, !state.isForbidden else { return false }
            state.isScheduled = true
            return true
        }
        guard mustSchedule else { return }
        // The closure keeps the store until the file is written.
        queue.asyncAfter(deadline: .now() + delay) { try? self.write(cookies) }
    }

    package func flush(_ cookies: @Sendable () -> [StoredCookie]) throws(CookieFileError) {
        let result = queue.sync { Result { () throws(CookieFileError) in try self.write(cookies) } }
        try result.get()
    }

    private func write(_ cookies: () -> [StoredCookie]) throws(CookieFileError) {
        let (isDirty, error) = state.withLock { state in
            defer {
                state.isDirty = false
                state.isScheduled = false
            }
            return (state.isDirty, state.isForbidden ? state.error : nil)
        }
        if let error { throw error }
        guard isDirty, let file else { return }
        do throws(CookieFileError) {
            try file.write(cookies())
            state.withLock { $0.error = nil }
        } catch {
            state.withLock { state in
                state.error = error
                state.isDirty = true
            }
            throw error
        }
    }
}
