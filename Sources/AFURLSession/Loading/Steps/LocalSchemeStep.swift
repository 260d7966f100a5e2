import AFTransport
import AFWire
import Foundation

/// Loads what needs no network: `data:` URLs and files. Only the owner of the task can name these: no redirect of a
/// server or of a class leads here. What else the session cannot send fails here.
final class LocalSchemeStep: LoadStep {
    func prepare(_ draft: inout RequestDraft, of load: any LoadView) -> Preparation {
        guard case .refused(let rejection) = draft.wire else { return .goOn }
        guard draft.history?.cause == nil, let task = load.handle, let request = load.presentRequest,
            request.url == task.originalRequest?.url,
            let url = request.url, let scheme = LocalScheme(url)
        else { return .fail(.rejected(rejection)) }
        if let failure = flaw(of: request, in: load) { return .fail(.local(failure)) }
        let isHead = request.contents.method == "HEAD"
        let world = load.session.world
        let limit = load.session.settings.maximumBodyInMemory
        return .taken { load in
            guard let foreign = load.memory?.foreign else { return }
            switch scheme {
            case .file: foreign.begin(FileSource(url: url, isHead: isHead, for: foreign, in: world), under: .program)
            case .data:
                let source = DataURLSource(url: url, isHead: isHead, limit: limit, for: foreign, in: world)
                foreign.begin(source, under: .program)
            }
        }
    }

    /// Refuses a method or a body that the load would silently ignore.
    private func flaw(of request: URLRequest, in load: any LoadView) -> LocalFailure? {
        guard case .request = load.body, request.httpBody?.isEmpty != false, request.bodyStream == nil else {
            return .upload
        }
        return ["GET", "HEAD"].contains(request.contents.method) ? nil : .method
    }
}
