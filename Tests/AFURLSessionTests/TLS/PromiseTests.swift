import AFTLS

extension SecuredTests {
    /// The first promise: to a server that fails the policy we send no byte of the
    /// request, no client certificate, no early data.
    struct Promise {
        enum Refusal: CaseIterable {
            case policy
            case delegate
        }

        private static let matrix = TLSVersion.allCases.flatMap { version in
            Refusal.allCases.map { (version, $0) }
        }

        @Test("a refused server gets neither certificate nor request byte", arguments: matrix)
        func refused(version: TLSVersion, refusal: Refusal) async throws {
            let site = try SecuredSite { tls, authority in
                tls.clientCertificates = .required(by: [authority.certificate])
                tls.invitesEarlyData = true
            }
            let client = try site.authority.issueClient("somebody")
            let identity = try ClientIdentity(
                certificates: [client.certificate],
                privateKeyPEM: Array(client.privateKeyPEM.utf8)
            )
            let delegate = TrustDelegate(after: .milliseconds(500)) { _ in (.cancelAuthenticationChallenge, nil) }
            let session = site.session(delegate: refusal == .delegate ? delegate : nil) { tls in
                tls.minimumVersion = version
                tls.maximumVersion = version
                tls.identity = identity
                if refusal == .policy { tls.evaluator = FixedEvaluator.refusing }
            }
            var request = URLRequest("POST", site.server.url("/hello"), body: Data("canary-body".utf8))
            request.setValue("Bearer canary-token", forHTTPHeaderField: "Authorization")

            let outcome = try await session.outcome(of: request)

            #expect(outcome.code == (refusal == .policy ? -1202 : -999), "\(outcome)")
            let connections = try await site.server.waitUntilIdle()
            #expect(connections.count == 1)
            let ended = connections[0]
            let handshake = try #require(ended.tls)
            #expect(!handshake.isComplete && handshake.clientCertificates.isEmpty && !handshake.offeredEarlyData)
            #expect(ended.received.isEmpty && ended.bytesReceived == 0 && ended.requestCount == 0)
            // Every byte that ever came from us: one greeting, perhaps the empty record of
            // RFC 8446 §D.4, and one alert, sealed or not. Nothing else fits in.
            let records = try #require(TLSRecord.all(in: ended.wire))
            #expect(records.first?.type == 22 && records.first?.isGreeting == true)
            #expect(records.dropFirst().allSatisfy { $0.isEmptySpecChange || $0.isAlert }, "\(records)")
            #expect(records.count(where: \.isAlert) == 1)
            #expect(!ended.wire.contains(certificate: client.certificate))
        }

        @Test("the same server, accepted, gets both", arguments: TLSVersion.allCases)
        func accepted(version: TLSVersion) async throws {
            let site = try SecuredSite { tls, authority in
                tls.clientCertificates = .required(by: [authority.certificate])
            }
            let client = try site.authority.issueClient("somebody")
            let identity = try ClientIdentity(
                certificates: [client.certificate],
                privateKeyPEM: Array(client.privateKeyPEM.utf8)
            )
            let session = site.session { tls in
                tls.maximumVersion = version
                tls.identity = identity
                tls.evaluator = FixedEvaluator.accepting
            }

            let outcome = try await session.outcome(of: site.server.url("/hello"))

            #expect(outcome.text == "hello", "\(outcome)")
            let connection = site.server.connections[0]
            #expect(connection.tls?.clientCertificates == [client.certificate])
            // In TLS 1.2 certificates travel in the clear: the capture would have seen it.
            #expect(connection.wire.contains(certificate: client.certificate) == (version == .v1_2))
        }
    }
}

/// A record as it was on the wire.
struct TLSRecord: Hashable {
    let type: UInt8
    let payload: [UInt8]

    /// Nil if the bytes are not a sequence of whole records.
    static func all(in wire: Data) -> [TLSRecord]? {
        var rest = Array(wire)[...]
        var records: [TLSRecord] = []
        while !rest.isEmpty {
            guard rest.count >= 5 else { return nil }
            let start = rest.startIndex
            let length = Int(rest[start + 3]) << 8 | Int(rest[start + 4])
            guard rest.count >= 5 + length else { return nil }
            records.append(TLSRecord(type: rest[start], payload: Array(rest[(start + 5)..<(start + 5 + length)])))
            rest = rest.dropFirst(5 + length)
        }
        return records
    }

    var isGreeting: Bool { type == 22 && payload.first == 1 }
    var isEmptySpecChange: Bool { type == 20 && payload == [1] }
    /// Two bytes; sealed with the type and a tag of 16, and then it says of itself that it is data.
    var isAlert: Bool { (type == 21 && payload.count == 2) || (type == 23 && payload.count == 19) }
}

extension Data {
    func contains(certificate: Certificate) -> Bool {
        range(of: Data(certificate.derBytes)) != nil
    }
}
