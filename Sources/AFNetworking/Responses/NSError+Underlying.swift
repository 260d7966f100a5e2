import Foundation

extension NSError {
    private var underlying: NSError? {
        (userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
    }

    /// The first error, with the other one beneath it; one of them if there are not two, and the first as it is if
    /// something is beneath it already.
    static func composing(_ error: NSError?, underlying other: NSError?) -> NSError? {
        guard let error else { return other }
        guard let other, error.userInfo[NSUnderlyingErrorKey] == nil else { return error }
        var userInfo = error.userInfo
        userInfo[NSUnderlyingErrorKey] = other
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    /// The same error, which also says what the response was that could not be decoded: in its failure reason, and behind
    /// the description of Foundation's decoders, which name nothing. A class of the program is left as it is.
    func naming(_ response: URLResponse?, _ body: Data?) -> NSError {
        guard type(of: self) == NSError.self, userInfo[NSLocalizedFailureReasonErrorKey] == nil,
            let summary = ResponseSummary(response, body)?.text
        else { return self }
        var userInfo = userInfo
        userInfo[NSLocalizedFailureReasonErrorKey] = summary
        if let url = response?.url?.withoutCredentials { userInfo[NSURLErrorFailingURLErrorKey] = url }
        if domain == NSCocoaErrorDomain {
            let end = localizedDescription.hasSuffix(".") ? "" : "."
            userInfo[NSLocalizedDescriptionKey] = "\(localizedDescription)\(end) \(summary)"
        }
        return NSError(domain: domain, code: code, userInfo: userInfo)
    }

    /// Whether this error or any one beneath it has the code in the domain.
    func hasOrCovers(code: Int, domain: String) -> Bool {
        var error: NSError? = self
        // No chain is that long unless a program made it so.
        for _ in 0..<32 {
            guard let current = error else { return false }
            if current.code == code && current.domain == domain { return true }
            error = current.underlying
        }
        return false
    }
}
