import AFBase
import AFWire
import Foundation

/// Decides about a redirect that a URL protocol class asks for: a pure function.
///
/// The class has made the request, so nothing comes from a `Location`. The rules for redirects of servers apply: their
/// number, no step from https to http, and no secrets to another origin. The class may have copied the secrets by
/// mistake, and may pass on what a server said.
struct ProtocolRedirect {
    let request: URLRequest
    let leavesOrigin: Bool

    /// - Parameter memory: What the load knows of the request that the class got, and of the redirects before it.
    init(to request: URLRequest, after memory: LoadMemory, policy: RedirectPolicy) throws(RedirectFailure) {
        let (present, count) = (memory.request, memory.redirects)
        guard count < max(0, policy.maximumCount) else { throw .tooMany(count) }
        var proposed = request.openingWebSocket(like: present)
        let (from, to) = (Place(present), Place(proposed))
        if case .http(let from) = from, case .http(let to) = to {
            if from.isSecured, !to.isSecured, !policy.allowsPlainText { throw .plainText(to) }
            leavesOrigin = !RedirectRules.isSameOrigin(from, to: to, policy: policy)
        } else {
            leavesOrigin = from != to
        }
        if leavesOrigin {
            for field in request.contents.fields where policy.withholds(field.name) {
                proposed.setValue(nil, forHTTPHeaderField: field.name)
            }
            proposed.trailers = proposed.trailers?.leavingOrigin(policy)
            proposed.setValue(nil, forHTTPHeaderField: "Host")
            proposed = RedirectRules.withoutSubprotocols(proposed)
        }
        self.request = proposed
    }

    /// Whether the new request goes without the body of the task, though it has the same method: RFC 9110 §15.4.4.
    static func dropsBody(_ response: URLResponse) -> Bool {
        (response as? HTTPURLResponse)?.statusCode == 303
    }

    /// The place that a URL leads to.
    private enum Place: Equatable {
        case http(Endpoint)
        /// A scheme of the program's own, with the text in front of the path as it is written.
        case other([UInt8])
        case nowhere

        init(_ request: URLRequest) {
            if let target = request.target {
                self = .http(target.endpoint)
                return
            }
            guard let text = request.url?.absoluteString else {
                self = .nowhere
                return
            }
            let bytes = Array(text.utf8)
            let slash = UInt8(ascii: "/")
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
            let start = bytes[colon...].dropFirst().firstIndex { $0 != slash } ?? bytes.count
            let end = bytes[start...].firstIndex { $0 == slash || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            self = .other(bytes[..<(end ?? bytes.count)].map(ASCII.folded))
        }
    }
}
