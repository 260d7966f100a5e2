import Foundation

/// A user name and a password; what is behind the first colon is the password.
package struct Login: Sendable, Equatable {
    package let user: String
    package let password: String

    init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// - Parameter text: `USER:PASSWORD`. Without a colon the password is empty: nobody is asked for it.
    init(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(user: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : "")
    }

    /// What stands in front of the host of a URL.
    init?(of components: URLComponents?) {
        guard let user = components?.user, !user.isEmpty else { return nil }
        self.init(user: user, password: components?.password ?? "")
    }

    /// The value of `Authorization` that is sent without being asked for (RFC 7617).
    var basic: String { "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())" }
}

/// How somebody who asks is told who we are.
package enum LoginScheme: String, Sendable, CaseIterable {
    /// At once, and the password as it is.
    case basic
    case digest
    /// The strongest that is offered.
    case any
}
