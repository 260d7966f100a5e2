import AFWire
import Foundation

// Loads of what needs no network.

extension TaskCore {
    /// True if what the task is to load lies in its URL, or in a file. Only the owner of the task can name these:
    /// neither a redirect of a server nor one of a class comes here.
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

    /// A method or a body would be lost without a word.
    private func flaw(of request: URLRequest) -> LocalFailure? {
        guard case .request = body, request.httpBody?.isEmpty != false, request.bodyStream == nil else {
            return .upload
        }
        return ["GET", "HEAD"].contains(request.contents.method) ? nil : .method
    }
}
