import AFLoop
import AFTLS
import CAFOpenSSL

@testable import AFTransport

extension SecuredTests {
    struct Poison {
        /// A client that leaves an error in OpenSSL's queue whenever it decides, as code of users may.
        private final class Poisoner: TLSEngineClient {
            private(set) var judgements = 0
            private(set) var questions = 0
            private(set) var sessions = 0

            func engine(_ engine: TLSEngine, judges served: [Certificate]) -> TLSVerdict {
                ErrorQueue.poison()
                judgements += 1
                return judgements == 1 ? .later : .accept
            }

            func engineNeedsIdentity(_ engine: TLSEngine) -> TLSIdentityAnswer {
                ErrorQueue.poison()
                questions += 1
                return questions == 1 ? .later : .none
            }

            func engine(_ engine: TLSEngine, received session: TLSSession) {
                ErrorQueue.poison()
                sessions += 1
            }
        }

        @Test("an error that the client leaves in the queue is not ours, T-TLS-68", arguments: TLSVersion.allCases)
        func poisonedDecision(version: TLSVersion) throws {
            let poisoner = Poisoner()
            let link = try MemoryLink(MemoryLink.Site(version, tickets: 2), client: poisoner)
            link.server.askForIdentity()
            var step = link.handshake()
            for _ in 1...4 {
                guard case .waiting = step else { break }
                step = link.handshake()
            }
            guard case .finished = step else {
                Issue.record("\(step)")
                return
            }
            #expect(poisoner.judgements == 2 && poisoner.questions == 2)

            link.server.feed(link.wire.takeWritten())
            link.server.handshake()
            link.arriveFromServer()

            #expect(link.readAll() == .wouldBlock && poisoner.sessions > 0)
            #expect(link.channel.failure == nil)
        }
    }
}
