import Foundation

/// A user name and a password. The first colon separates them.
package struct Login: Sendable, Equatable {
    package let user: String
    package let password: String
    /// Whether to ask on the terminal for the password.
    package let isOpen: Bool

    init(user: String, password: String, isOpen: Bool = false) {
        self.user = user
        self.password = password
        self.isOpen = isOpen
    }

    /// - Parameters:
    ///   - text: `USER:PASSWORD`. Without a colon the password is empty.
    ///   - mayAsk: Whether to ask for the password on the terminal if the text has none.
    init(_ text: String, mayAsk: Bool = false) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let password = parts.count > 1 ? String(parts[1]) : ""
        self.init(user: String(parts[0]), password: password, isOpen: mayAsk && parts.count == 1)
    }

    /// The login with the password that the user types, if it is to be asked for.
    func asking(for what: String) -> Login {
        guard isOpen, let answer = PasswordQuestion.ask("password of \(user) for \(what): ") else { return self }
        return Login(user: user, password: answer)
    }

    /// The user and password of a URL.
    init?(of components: URLComponents?) {
        let (user, password) = (components?.user ?? "", components?.password ?? "")
        guard !user.isEmpty || !password.isEmpty else { return nil }
        self.init(user: user, password: password)
    }

    /// The value of `Authorization` for Basic (RFC 7617).
    var basic: String { "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())" }
}

/// How credentials are sent.
package enum LoginScheme: String, Sendable, CaseIterable {
    /// With the first request, in clear text.
    case basic
    case digest
    /// The strongest scheme that the server offers.
    case any
}
