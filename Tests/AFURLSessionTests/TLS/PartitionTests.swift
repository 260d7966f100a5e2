import AFTLS

@testable import AFURLSession
@testable import AFURLTypes

extension SecuredTests {
    /// Whose connection a request may use.
    struct Partition {
        struct Change: CustomTestStringConvertible, Sendable {
            let field: String
            let apply: @Sendable (inout TLSConfiguration, SecuredSite) throws -> Void

            init(_ field: String, _ apply: @escaping @Sendable (inout TLSConfiguration, SecuredSite) throws -> Void) {
                self.field = field
                self.apply = apply
            }

            var testDescription: String { field }
        }

        private static let changes = [
            Change("anchors") { tls, _ in tls.anchors = tls.anchors.adding([try CertificateAuthority().certificate]) },
            Change("evaluator") { tls, _ in tls.evaluator = FixedEvaluator.accepting },
            Change("identity") { tls, site in tls.identity = try site.identity("somebody") },
            Change("minimumVersion") { tls, _ in tls.minimumVersion = .v1_3 },
            Change("maximumVersion") { tls, _ in tls.maximumVersion = tls.maximumVersion == .v1_2 ? .v1_3 : .v1_2 },
            Change("securityLevel") { tls, _ in tls.securityLevel = 1 },
            Change("ciphers") { tls, _ in tls.ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384" },
            Change("resumesSessions") { tls, _ in tls.resumesSessions = false },
            Change("toleratesMissingCloseNotify") { tls, _ in tls.toleratesMissingCloseNotify = true },
            Change("decisionTimeout") { tls, _ in tls.decisionTimeout = 5 },
        ]

        @Test func `T-TLS-10 the changes above are changes of every field there is`() {
            let fields = Mirror(reflecting: TLSConfiguration()).children.compactMap(\.label)

            #expect(
                Set(fields) == Set(Self.changes.map(\.field)),
                "a field is missing here, and perhaps in fingerprint"
            )
        }

        @Test("a change of any field needs another connection, T-TLS-10", arguments: changes, TLSVersion.allCases)
        func change(change: Change, version: TLSVersion) async throws {
            let site = try SecuredSite()
            let session = site.session { $0.maximumVersion = version }
            let url = site.server.url("/hello")
            #expect(try await session.outcome(of: url).text == "hello")
            // None of it was changed.
            session.tls = session.tls
            #expect(try await session.outcome(of: url).text == "hello")
            #expect(site.server.acceptedConnections == 1)

            var tls = session.tls
            try change.apply(&tls, site)
            session.tls = tls

            #expect(try await session.outcome(of: url).text == "hello")
            try #require(site.server.acceptedConnections == 2)
            #expect(site.server.connections[1].tls?.isFresh == true)
            // The former connection did not wait for its idle time to be over.
            try await site.server.waitForEnd(ofConnection: 1)
        }

        @Test func `T-TLS-10 the time a delegate has can be changed`() async throws {
            let site = try SecuredSite()
            let delegate = TrustDelegate { _ in nil }
            let session = site.session(delegate: delegate)
            _ = await session.settled()

            session.tls.decisionTimeout = 0.05

            #expect(try await session.outcome(of: site.server.url("/hello")).code == -1202)
        }

        @Test func `T-TLS-11 files are compared by what is in them`() async throws {
            let site = try SecuredSite()
            let folder = FileManager.default.temporaryDirectory.appending(path: "af-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (upper, lower) = (folder.appending(path: "CA.pem"), folder.appending(path: "ca.pem"))
            try Data(site.authority.pem.utf8).write(to: upper)
            try Data(try CertificateAuthority().pem.utf8).write(to: lower)
            let session = site.session()
            session.tls.anchors = try .file(upper.path)
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")

            // The same authority from another place, and with another encoding.
            session.tls.anchors = .certificates([site.authority.certificate, site.authority.certificate])
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(site.server.acceptedConnections == 1)

            session.tls.anchors = try .file(lower.path)
            #expect(try await session.outcome(of: site.server.url("/hello")).code == -1203)
            // The same path, with something else in it now.
            try FileManager.default.removeItem(at: lower)
            try Data(site.authority.pem.utf8).write(to: lower)
            session.tls.anchors = try .file(lower.path)
            #expect(try await session.outcome(of: site.server.url("/hello")).text == "hello")
            #expect(site.server.acceptedConnections == 3)
        }

        @Test func `T-TLS-11 a set of rules has a number that is never given again`() throws {
            var configuration = TLSConfiguration()
            let security = SessionSecurity(configuration, connectionsPerHost: 6)
            var ids: [Int] = []
            var retired: [Int] = []

            for level in [1, 1, 2, 1, 2, 2, 1] {
                configuration.securityLevel = level
                security.replace(configuration)
                ids.append(security.context { former, _ in retired.append(former.id) }.id)
            }

            #expect(ids == [1, 1, 2, 3, 4, 4, 5])
            #expect(retired == [1, 2, 3, 4])
        }

        @Test func `T-TLS-11 fields do not run into each other`() throws {
            // Each pair would be equal if the fields were only joined.
            var (left, right) = (TLSConfiguration(), TLSConfiguration())
            left.ciphers = ""
            #expect(left.fingerprint(nil, unnamed: 0) != right.fingerprint(nil, unnamed: 0))
            right.ciphers = nil
            let (one, other) = (FixedEvaluator([]) { _ in .accept }, FixedEvaluator([0]) { _ in .accept })
            #expect(left.fingerprint(one, unnamed: 0) != left.fingerprint(other, unnamed: 0))
            #expect(left.fingerprint(one, unnamed: 0) != left.fingerprint(nil, unnamed: 0))
            let unnamed = FixedEvaluator { _ in .accept }
            #expect(left.fingerprint(unnamed, unnamed: 1) != left.fingerprint(unnamed, unnamed: 2))
            #expect(left.fingerprint(one, unnamed: 1) == left.fingerprint(one, unnamed: 2))
        }
    }
}
