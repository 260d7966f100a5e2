import AFWire
import Foundation

// Loads that need no network.

extension TaskCore {
    /// True if the task loads a `data:` URL or a file. Only the owner of the task can name these: no redirect of a
    /// server or of a class leads here.
    func loadsLocally() -> Bool {
        guard isLoading, let task, let request = presentRequest, request.url == task.originalRequest?.url,
            let url = request.url, let scheme = LocalScheme(url)
        else { return false }
        if let failure = flaw(of: request) {
            fail(.local(failure))
            return true
        }
        let course = course(beginningWith: request)
        let load = ForeignLoad(request, of: self, hardDeadline: hardDeadline)
        course.load = load
        stopClock()
        if isSuspended { load.pause(.suspended) }
        let isHead = request.contents.method == "HEAD"
        let world = session.world
        switch scheme {
        case .file: load.begin(FileSource(url, isHead: isHead, for: load, in: world))
        case .data:
            let limit = session.settings.maximumBodyInMemory
            load.begin(DataURLSource(url, isHead: isHead, limit: limit, for: load, in: world))
        }
        return true
    }

    /// Refuses a method or a body that the load would silently ignore.
    private func flaw(of request: URLRequest) -> LocalFailure? {
        guard case .request = body, request.httpBody?.isEmpty != false, request.bodyStream == nil else {
            return .upload
        }
        return ["GET", "HEAD"].contains(request.contents.method) ? nil : .method
    }
}
