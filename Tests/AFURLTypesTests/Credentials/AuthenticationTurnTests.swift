import AFState
import AFWire
import Foundation
import Testing

@testable import AFURLTypes

/// What the machine of authentication leaves to the session.
@Suite("Turns of authentication")
struct AuthenticationTurnTests {
    private static let basic = "Basic realm=r"
    private static let digest = "Digest realm=r, nonce=n, qop=auth"

    private static func received(
        _ challenge: String,
        to exchange: AuthenticationExchange,
        by task: inout TaskTalk
    ) -> AuthenticationTurn {
        var headers = HTTPHeaders()
        headers.append("WWW-Authenticate", value: challenge)
        return task.machine.received(401, headers: headers, to: exchange, knowing: task.proven.known)
    }

    private static func sends(_ proven: ProvenCredentials, to exchange: AuthenticationExchange) -> Bool {
        var task = TaskTalk(proven)
        return task.send(exchange).authorization != nil
    }

    @Test(arguments: [basic, digest])
    func `a machine changes nothing of what the session knows`(challenge: String) throws {
        let proven = ProvenCredentials.ofTest()
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        _ = task.challenge(challenge, to: exchange)
        _ = task.answer(.user())
        _ = task.send(exchange)
        let accepted = task.machine.received(200, headers: HTTPHeaders(), to: exchange, knowing: proven.known)
        #expect(!Self.sends(proven, to: exchange) && proven.settings.storage?.isEmpty == true)
        #expect(proven.learn(from: accepted).name == "deliver")
        #expect(Self.sends(proven, to: exchange) && proven.settings.storage?.isEmpty == false)

        var later = TaskTalk(proven)
        _ = later.send(exchange)
        let refused = Self.received(challenge, to: exchange, by: &later)
        #expect(Self.sends(proven, to: exchange))
        #expect(proven.learn(from: refused).question != nil)
        #expect(!Self.sends(proven, to: exchange))
    }

    @Test func `T-AUT-08 a session of Digest is shared when the turn is learnt that made it`() throws {
        let proven = ProvenCredentials.ofTest(nil)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var tasks = (0..<3).map { _ in TaskTalk(proven) }
        for place in tasks.indices { _ = tasks[place].challenge(Self.digest, to: exchange) }
        let turn = tasks[0].machine.answered(.use(.user()), knowing: proven.known)
        _ = tasks[1].answer(.user())
        let nonce = tasks[1].send(exchange).parameter("cnonce")
        #expect(proven.learn(from: turn).name == "again")
        _ = tasks[2].answer(.user())

        #expect(tasks[0].send(exchange).parameter("cnonce") != nonce)
        #expect(tasks[2].send(exchange).parameter("cnonce") == nonce)
    }

    @Test func `a turn teaches what happened, in its order`() throws {
        let proven = ProvenCredentials.ofTest(nil)
        let exchange = try AuthenticationExchange.get("https://a.test/")
        var task = TaskTalk(proven)
        func learnt(_ turn: AuthenticationTurn) -> [String] {
            _ = proven.learn(from: turn)
            return turn.lessons.map(\.name)
        }
        _ = task.send(exchange)
        #expect(learnt(Self.received(Self.digest, to: exchange, by: &task)) == [])
        #expect(learnt(task.machine.answered(.use(.user()), knowing: proven.known)) == ["share"])
        _ = task.send(exchange)
        let stale = "Digest realm=r, nonce=m, qop=auth, stale=true"
        #expect(learnt(Self.received(stale, to: exchange, by: &task)) == ["forget", "share"])
        _ = task.send(exchange)
        var info = HTTPHeaders()
        info.append("Authentication-Info", value: "nextnonce=o")
        let accepted = task.machine.received(200, headers: info, to: exchange, knowing: proven.known)
        #expect(learnt(accepted) == ["renew", "remember"])
        #expect(task.send(exchange).parameter("nonce") == "o")
        #expect(learnt(Self.received(Self.basic, to: exchange, by: &task)) == ["forget"])
    }
}

extension CredentialLesson {
    fileprivate var name: String {
        switch self {
        case .remember: "remember"
        case .forget: "forget"
        case .share: "share"
        case .renew: "renew"
        }
    }
}
