import AFBase
import AFState
import Foundation

/// Tells the user of the program, once, that the cache stays in memory because there is no folder for it.
package final class MissingCacheFolderWarning: Sendable {
    package static let shared = MissingCacheFolderWarning { text in
        // If standard error is closed, the warning is lost.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    private let hasSaid = Lock(false)
    private let show: @Sendable (String) -> Void

    /// - Parameter show: Shows a text.
    init(show: @escaping @Sendable (String) -> Void) {
        self.show = show
    }

    func say(why refusal: CacheHome.Refusal) {
        let isFirst = hasSaid.withLock { hasSaid in
            defer { hasSaid = true }
            return !hasSaid
        }
        guard isFirst else { return }
        show(
            """
            AFNetworking: URLCache keeps responses in memory only, as \(refusal.reason). Choose a folder with \
            configuration.urlCache = URLCache(memoryCapacity: 4 << 20, diskCapacity: 20 << 20, directory: folder), or \
            none with diskCapacity: 0.

            """
        )
    }
}

extension CacheHome.Refusal {
    /// Why, as the end of a sentence.
    fileprivate var reason: String {
        switch self {
        case .noHome: "neither HOME nor the list of users names a home, and XDG_CACHE_HOME no folder"
        case .missingHome(let path): "there is no home at \(path)"
        case .foreignHome(let path): "the home at \(path) is not this user's"
        case .unusable(let path, let error): "the folder for it in \(path) cannot be used (\(error))"
        case .unknownProgram: "the path of the program is not known (is there no /proc?)"
        }
    }
}
