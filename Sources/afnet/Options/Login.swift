import Foundation

/// A user name and a password; what is behind the first colon is the password.
package struct Login: Sendable, Equatable {
    package let user: String
    package let password: String
    /// Nobody has named a password, and the terminal may be asked for it.
    package let isOpen: Bool

    init(user: String, password: String, isOpen: Bool = false) {
        self.user = user
        self.password = password
        self.isOpen = isOpen
    }

    /// - Parameters:
    ///   - text: `USER:PASSWORD`. Without a colon the password is empty.
    ///   - mayAsk: unless somebody is there to be asked.
    init(_ text: String, mayAsk: Bool = false) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let password = parts.count > 1 ? String(parts[1]) : ""
        self.init(user: String(parts[0]), password: password, isOpen: mayAsk && parts.count == 1)
    }

    /// With the answer of whoever sits at the terminal.
    func asking(for what: String) -> Login {
        guard isOpen, let answer = PasswordQuestion.ask("password of \(user) for \(what): ") else { return self }
        return Login(user: user, password: answer)
    }

    /// What stands in front of the host of a URL.
    init?(of components: URLComponents?) {
        let (user, password) = (components?.user ?? "", components?.password ?? "")
        guard !user.isEmpty || !password.isEmpty else { return nil }
        self.init(user: user, password: password)
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
