import AFTLS
import AFWire
import Foundation
import Testing

@testable import AFState
@testable import AFURLTypes

/// Random servers, users and delegates, and what must hold whatever they do.
@Suite("Authentication, at random")
struct AuthenticationModelTests {
    /// A server that checks what it gets by itself.
    private struct Server {
        let host: String
        let realm: String
        let password: String
        let schemes: [String]
        let staleness: Int
        var random: SeededGenerator
        var nonce = 0
        var isStale = false
        /// What it got, to find what it must not get and what came twice.
        var received: [String] = []
        var counts: Set<String> = []
        var refusals = 0

        mutating func status(for sent: TaskTalk.Sent, method: String, target: String) -> Int {
            isStale = false
            guard let field = sent.authorization else { return 401 }
            received.append(field)
            guard let challenge = Challenge.list(field).first else { return 400 }
            if challenge.scheme == "basic" {
                if field == TaskTalk.basic("user", password), schemes.contains("Basic") { return 200 }
                refusals += 1
                return 401
            }
            return check(challenge, method, target)
        }

        private mutating func check(_ answer: Challenge, _ method: String, _ target: String) -> Int {
            let count = "\(answer.parameter("nonce") ?? "") \(answer.parameter("nc") ?? "")"
            if !counts.insert(count).inserted { return 400 }
            guard answer.parameter("uri") == target, answer.parameter("realm") == realm else { return 400 }
            let function = Server.function(answer.parameter("algorithm") ?? "MD5")
            let key = hash(function, "user:\(realm):\(password)")
            let request = hash(function, "\(method):\(target)")
            let parts = ["nonce", "nc", "cnonce", "qop"].compactMap { answer.parameter($0) }
            guard hash(function, ([key] + parts + [request]).joined(separator: ":")) == answer.parameter("response")
            else {
                refusals += 1
                nonce += 1
                return 401
            }
            guard answer.parameter("nonce") == "\(host)-\(nonce)", !random.chance(staleness) else {
                nonce += 1
                isStale = true
                return 401
            }
            return 200
        }

        private static func function(_ name: String) -> DigestFunction {
            name == "MD5" ? .md5 : name == "SHA-256" ? .sha256 : .sha512_256
        }

        private func hash(_ function: DigestFunction, _ text: String) -> String {
            let digest = MessageDigest(function)
            digest?.add(Array(text.utf8))
            return String(decoding: DigestAlgorithm.hexadecimal(digest?.finish() ?? []), as: UTF8.self)
        }

        var challenges: [(String, String)] {
            schemes.map { scheme in
                guard scheme != "Basic" else { return ("WWW-Authenticate", "Basic realm=\"\(realm)\"") }
                let stale = isStale ? ", stale=true" : ""
                let value =
                    "Digest realm=\"\(realm)\", nonce=\"\(host)-\(nonce)\", qop=auth, algorithm=\(scheme)\(stale)"
                return ("WWW-Authenticate", value)
            }
        }
    }

    private static func server(_ number: Int, _ random: inout SeededGenerator) -> Server {
        let schemes = ["Basic", "MD5", "SHA-256", "SHA-512-256"].filter { _ in random.chance(50) }
        return Server(
            host: "h\(number).test",
            realm: random.chance(50) ? "same" : "realm \(number)",
            password: "canary-\(number)",
            schemes: (schemes.isEmpty ? ["MD5"] : schemes).shuffled(using: &random),
            staleness: random.chance(50) ? 30 : 0,
            random: random.fork(number)
        )
    }

    /// What one seed loads, each over one to three hops: `AFNET_CREDENTIAL_TASKS`.
    private static let tasks =
        ProcessInfo.processInfo.environment["AFNET_CREDENTIAL_TASKS"].flatMap { Int($0) } ?? 40

    @Test(
        "every task ends, failures are those the server counts, and no secret goes astray, T-AUT-01, T-AUT-02, T-AUT-09",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func randomTasks(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ ModelSeed.first)
        var servers = (0..<3).map { Self.server($0, &random) }
        let proven = ProvenCredentials.ofTest()
        for _ in 0..<Self.tasks {
            var task = TaskTalk(proven)
            // A few hops, as redirects make them.
            for _ in 0..<random.pick(1...3) {
                try Self.load(&servers[random.pick(0...2)], &task, &random)
            }
        }
        for server in servers {
            let others = servers.filter { $0.host != server.host }
            for text in server.received {
                for other in others {
                    #expect(text != TaskTalk.basic("user", other.password))
                    #expect(!text.contains("\(other.host)-"))
                }
                #expect(!text.contains("canary"))
            }
        }
    }

    private static func load(_ server: inout Server, _ task: inout TaskTalk, _ random: inout SeededGenerator) throws {
        let target = "/\(random.pick(0...2))/x?\(random.pick(0...9))"
        let exchange = try AuthenticationExchange.get("https://\(server.host)\(target)")
        let refusalsBefore = server.refusals
        var requests = 0
        var isBlamed = 0
        while true {
            let sent = task.send(exchange)
            requests += 1
            let status = server.status(for: sent, method: "GET", target: target)
            #expect(status != 400, "a count came twice, or the answer was for something else")
            var step = task.receive(status, status == 401 ? server.challenges : [], to: exchange)
            var questions = 0
            while let question = step.question {
                questions += 1
                #expect(question.space.host == server.host && question.space.realm == server.realm)
                #expect(question.previousFailureCount >= isBlamed)
                isBlamed = question.previousFailureCount
                step = answer(&task, server, &random)
            }
            #expect(questions <= server.schemes.count)
            guard case .again = step else { break }
        }
        #expect(requests <= 1 + task.proven.settings.rounds)
        #expect(server.refusals - refusalsBefore <= requests)
    }

    private static func answer(
        _ task: inout TaskTalk,
        _ server: Server,
        _ random: inout SeededGenerator
    ) -> AuthenticationMachine.Step {
        switch random.pick(0...9) {
        case 0: task.answer(.reject)
        case 1: task.answer(.performDefault)
        case 2: task.answer(.cancel)
        case 3: task.answer(nil)
        case 4, 5: task.answer(.user("user", "wrong", random.chance(50) ? .none : .forSession))
        default: task.answer(.user("user", server.password, random.chance(50) ? .none : .forSession))
        }
    }

    @Test(
        "the right password always gets through where the server is reasonable",
        arguments: 1...20 as ClosedRange<UInt64>
    )
    func rightPassword(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed &+ ModelSeed.first)
        var server = Self.server(0, &random)
        let proven = ProvenCredentials.ofTest()
        for _ in 0..<20 {
            var task = TaskTalk(proven)
            let exchange = try AuthenticationExchange.get("https://\(server.host)/x/y")
            // Restarts of the server are forgotten nonces.
            if random.chance(20) { server.nonce += 1 }
            var status = 0
            var stales = 0
            for _ in 0...3 {
                let sent = task.send(exchange)
                status = server.status(for: sent, method: "GET", target: "/x/y")
                if server.isStale { stales += 1 }
                var step = task.receive(status, status == 401 ? server.challenges : [], to: exchange)
                if let question = step.question {
                    #expect(question.previousFailureCount == 0)
                    step = task.answer(.user("user", server.password))
                }
                guard case .again = step else { break }
            }
            #expect(status == 200 || stales >= 3)
        }
        #expect(server.refusals == 0)
    }
}
