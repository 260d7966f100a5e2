import AFFaults
import AFWire
import CAFOpenSSL

@testable import AFTLS
@testable import AFTransport

extension SecuredTests {
    struct SessionCache {
        private func key(_ number: Int) throws -> ConnectionKey {
            ConnectionKey(endpoint: try Endpoint(scheme: .https, host: "h\(number).test"), unixPath: nil, security: nil)
        }

        /// A session that may be resumed, told from others by its number.
        private static func session(_ number: Int, version: TLSVersion = .v1_2) throws -> TLSSession {
            let handle = try #require(SSL_SESSION_new())
            SSL_SESSION_set_protocol_version(handle, Int32(version.rawValue))
            let id = withUnsafeBytes(of: number) { Array($0) }
            SSL_SESSION_set1_id(handle, id, UInt32(id.count))
            return TLSSession(adopting: handle)
        }

        private static let trust = ServerTrust(
            servedChain: [],
            host: "h.test",
            anchors: .certificates([]),
            at: 0,
            securityLevel: ServerTrust.usualSecurityLevel
        )

        @Test func `T-TLS-08 ten thousand servers leave 256 sessions, two of each`() throws {
            var cache = TLSSessionCache(sessionsPerPeer: 2)
            for number in 0..<10_000 {
                for _ in 1...3 { cache.keep(try Self.session(number), trust: Self.trust, for: try key(number)) }
                #expect(cache.count <= TLSSessionCache.limit)
            }

            #expect(cache.count == 256)
            #expect(cache.take(for: try key(9999)) != nil)
            #expect(cache.take(for: try key(9872)) != nil)
            #expect(cache.take(for: try key(9871)) == nil)
        }

        @Test func `T-TLS-08 the server met longest ago goes first`() throws {
            var cache = TLSSessionCache(sessionsPerPeer: 2)
            for number in 0..<256 { cache.keep(try Self.session(number), trust: Self.trust, for: try key(number)) }
            #expect(cache.take(for: try key(0)) != nil)

            cache.keep(try Self.session(256), trust: Self.trust, for: try key(256))

            #expect(cache.take(for: try key(0)) != nil)
            #expect(cache.take(for: try key(1)) == nil)
            #expect(cache.take(for: try key(2)) != nil)
        }

        @Test func `T-TLS-08 servers go in the order in which they were asked for last`() throws {
            var cache = TLSSessionCache(sessionsPerPeer: 2)
            for number in 0..<256 { cache.keep(try Self.session(number), trust: Self.trust, for: try key(number)) }
            for number in (0..<256).reversed() { _ = cache.take(for: try key(number)) }

            for number in 256..<264 {
                cache.keep(try Self.session(number), trust: Self.trust, for: try key(number))
                let oldest = 255 + 256 - number
                #expect(cache.count == 256)
                var copy = cache
                #expect(copy.take(for: try key(oldest)) == nil)
                #expect(copy.take(for: try key(oldest - 1)) != nil)
            }
        }

        @Test func `sessions of TLS 1.3 serve once, those of TLS 1.2 again and again`() throws {
            var cache = TLSSessionCache(sessionsPerPeer: 2)
            let (old, new) = (try key(2), try key(3))
            for number in 1...2 {
                cache.keep(try Self.session(number), trust: Self.trust, for: old)
                cache.keep(try Self.session(number, version: .v1_3), trust: Self.trust, for: new)
            }

            for _ in 1...5 { #expect(cache.take(for: old) != nil) }
            #expect(
                [cache.take(for: new), cache.take(for: new), cache.take(for: new)].map { $0 != nil } == [
                    true, true, false,
                ]
            )
            #expect(cache.count == 2)
        }

        @Test func `two sessions are kept of a server at least, and what is forgotten is not counted`() throws {
            var cache = TLSSessionCache(sessionsPerPeer: 0)
            for number in 1...3 { cache.keep(try Self.session(number), trust: Self.trust, for: try key(1)) }
            #expect(cache.count == 2)

            cache.forget(try key(2))
            #expect(cache.count == 2)
            cache.forget(try key(1))
            #expect(cache.count == 0)
            #expect(cache.take(for: try key(1)) == nil)
        }

        /// The cache belongs to the rules, and the key of a connection names them.
        @Test func `rules that are over go away with their sessions`() throws {
            weak var rules: SecurityContext?
            do {
                let security = SecurityContext(
                    id: 1,
                    configuration: TLSConfiguration(),
                    evaluator: nil,
                    fingerprint: [],
                    sessionsPerPeer: 2
                )
                rules = security
                let endpoint = try Endpoint(scheme: .https, host: "h.test")
                let key = ConnectionKey(endpoint: endpoint, unixPath: nil, security: security)
                security.sessions.keep(try Self.session(1), trust: Self.trust, for: key)
                #expect(security.sessions.take(for: key) != nil)
            }

            #expect(rules == nil)
        }

        @Test func `a session that cannot be resumed is not handed out`() throws {
            var cache = TLSSessionCache(sessionsPerPeer: 2)
            let empty = TLSSession(adopting: try #require(SSL_SESSION_new()))
            cache.keep(empty, trust: Self.trust, for: try key(1))

            #expect(cache.take(for: try key(1)) == nil && cache.count == 0)
        }

        @Test func `T-TLS-08 memory does not grow with the number of servers`() async {
            await #expect(processExitsWith: .success) {
                var cache = TLSSessionCache(sessionsPerPeer: 2)
                func meet(_ numbers: Range<Int>) throws {
                    for number in numbers {
                        let endpoint = try Endpoint(scheme: .https, host: "h\(number).test")
                        let key = ConnectionKey(endpoint: endpoint, unixPath: nil, security: nil)
                        cache.keep(try Self.session(number), trust: Self.trust, for: key)
                    }
                }
                try meet(0..<2000)
                let before = ProcessUse.heapBytes
                try meet(2000..<10_000)
                #expect(ProcessUse.heapBytes - before < 64 << 10)
                #expect(cache.count == 256)
            }
        }
    }
}
