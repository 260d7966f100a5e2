import AFState
import AFTLS
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

/// One task, as far as authentication goes: its machine, and the session it belongs to.
struct TaskTalk {
    var machine = AuthenticationMachine()
    let proven: ProvenCredentials

    init(_ proven: ProvenCredentials) {
        self.proven = proven
    }

    /// The function that the digest of the body is wanted by.
    mutating func prepare(_ exchange: AuthenticationExchange) -> DigestFunction? {
        machine.prepare(exchange, knowing: proven.known(for: exchange))
    }

    /// What is sent for `exchange`.
    mutating func send(_ exchange: AuthenticationExchange, bodyDigest: [UInt8]? = nil) -> Sent {
        _ = prepare(exchange)
        return Sent(machine.fieldValues(for: exchange, bodyDigest: bodyDigest))
    }

    mutating func receive(
        _ status: Int,
        _ fields: [(String, String)] = [],
        to exchange: AuthenticationExchange
    ) -> AuthenticationMachine.Step {
        var headers = HTTPHeaders()
        for (name, value) in fields { headers.append(name, value: value) }
        return proven.learn(from: machine.received(status, headers: headers, to: exchange, knowing: proven.known))
    }

    /// Sends without being asked, and is asked for this.
    mutating func challenge(
        _ challenge: String,
        to exchange: AuthenticationExchange
    ) -> AuthenticationMachine.Step {
        _ = send(exchange)
        return receive(401, [("WWW-Authenticate", challenge)], to: exchange)
    }

    mutating func answer(_ credential: URLCredential?) -> AuthenticationMachine.Step { answer(.use(credential)) }

    mutating func answer(_ answer: CredentialAnswer) -> AuthenticationMachine.Step {
        proven.learn(from: machine.answered(answer, knowing: proven.known))
    }

    /// Goes through a whole round, from the challenge to the accepted answer.
    mutating func pass(_ challenge: String, _ credential: URLCredential, to exchange: AuthenticationExchange) -> Sent {
        guard case .ask = self.challenge(challenge, to: exchange), case .again = answer(credential) else {
            Issue.record("not asked, or not answered")
            return Sent(.init())
        }
        let sent = send(exchange)
        #expect(receive(200, to: exchange).name == "deliver")
        return sent
    }

    struct Sent: Equatable {
        let authorization: String?
        let proxyAuthorization: String?

        init(_ values: AuthenticationMachine.FieldValues) {
            authorization = values.authorization.map { String(decoding: $0, as: UTF8.self) }
            proxyAuthorization = values.proxyAuthorization.map { String(decoding: $0, as: UTF8.self) }
        }

        /// A parameter of `Authorization`.
        func parameter(_ name: String) -> String? {
            authorization.flatMap { Challenge.list($0).first?.parameter(name) }
        }
    }

    /// `Basic` with this user and password.
    static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

extension ProvenCredentials {
    /// Of a session with a storage of its own, and nonces that count up.
    static func ofTest(
        _ storage: URLCredentialStorage? = URLCredentialStorage(),
        _ change: (inout CredentialSettings) -> Void = { _ in }
    ) -> ProvenCredentials {
        var settings = CredentialSettings(storage: storage)
        change(&settings)
        var made: UInt64 = 0
        return ProvenCredentials(settings: settings) {
            made += 1
            return [UInt8](repeating: 0, count: 8) + withUnsafeBytes(of: made.bigEndian, Array.init)
        }
    }
}

extension AuthenticationExchange {
    /// A GET of a URL.
    static func get(
        _ url: String,
        proxy: ChallengingParty? = nil,
        method: String = "GET",
        trust: TrustScope = .clear
    ) throws
        -> AuthenticationExchange
    {
        AuthenticationExchange(url: try RequestURL(url), method: method, proxy: proxy, trust: trust)
    }
}

extension ChallengingParty {
    static func proxy(_ host: String, port: UInt16 = 3128) throws -> ChallengingParty {
        .proxy(try Endpoint(scheme: .http, host: host, port: port), for: .http)
    }
}

extension AuthenticationMachine.Step {
    var question: CredentialQuestion? {
        if case .ask(let question) = self { question } else { nil }
    }

    var name: String {
        switch self {
        case .deliver: "deliver"
        case .again: "again"
        case .ask(let question): "ask \(question.space.authenticationMethod.dropFirst(25))"
        case .cancel: "cancel"
        case .fail: "fail"
        }
    }
}
