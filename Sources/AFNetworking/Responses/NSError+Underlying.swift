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

    /// Whether this error or any one beneath it has the code in the domain.
    func hasOrCovers(code: Int, domain: String) -> Bool {
        var error: NSError? = self
        // No chain is that long unless somebody made it so.
        for _ in 0..<32 {
            guard let current = error else { return false }
            if current.code == code && current.domain == domain { return true }
            error = current.underlying
        }
        return false
    }
}
