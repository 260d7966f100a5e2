package import Foundation

// Unchecked as `NSError` is: nothing in it changes.
/// The object within a `URLError` of this package. It prints each thing once.
///
/// Foundation prints the description, then once more what it consists of (`NSLocalizedFailureReason` and
/// `NSLocalizedRecoverySuggestion`), and then the underlying error, which begins with the same sentence. Programs read these
/// keys, so they stay where they are.
package final class ReportedError: NSError, @unchecked Sendable {
    /// Domain, code and description, the URL and whatever else a program has put in, then the addresses that were tried, how
    /// long each phase took, and what the server showed.
    package override var description: String {
        var text = "Error Domain=\(domain) Code=\(code) \"\(localizedDescription)\""
        let others = userInfo.filter { !Self.spoken.contains($0.key) }.map { "\($0.key)=\($0.value)" }
        if !others.isEmpty { text += " UserInfo={\(others.sorted().joined(separator: ", "))}" }
        guard let failure = LoadFailure.beneath(self) else { return text }
        return ([text] + failure.evidence).joined(separator: "\n")
    }

    /// The same as ``description``.
    package override var debugDescription: String { description }

    /// What the description says, or its lines of evidence, or another key.
    private static let spoken: Set<String> = [
        NSLocalizedDescriptionKey, NSLocalizedFailureReasonErrorKey, NSLocalizedRecoverySuggestionErrorKey,
        NSUnderlyingErrorKey, NSURLErrorFailingURLPeerTrustErrorKey, ErrorMapping.failingURLStringKey,
    ]
}

extension URLError {
    /// An error that prints each thing once.
    package init(reporting code: Code, details: [String: Any]) {
        self.init(_nsError: ReportedError(domain: NSURLErrorDomain, code: code.rawValue, userInfo: details))
    }
}
