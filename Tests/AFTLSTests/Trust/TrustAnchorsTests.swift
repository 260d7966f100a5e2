import Foundation
import Testing

@testable import AFTLS

@Suite struct TrustAnchorsTests {
    private let first: CertificateAuthority
    private let second: CertificateAuthority

    init() throws {
        first = try CertificateAuthority("First")
        second = try CertificateAuthority("Second")
    }

    @Test("the system's authorities are loaded once and shared")
    func system() throws {
        let store = try TrustAnchors.system.store()

        #expect(store.count > 10)
        #expect(try TrustAnchors.system.store() === store)
        #expect(TrustAnchors.system.isLoaded)
    }

    @Test("anchors are equal by content, wherever it came from")
    func equality() throws {
        let both = TrustAnchors.certificates([first.certificate, second.certificate])
        let text = try TrustAnchors.pem((second.pem + first.pem + second.pem).utf8)

        #expect(both == text)
        #expect(both.hashValue == text.hashValue)
        #expect(both.fingerprint == text.fingerprint)
        #expect(both == TrustAnchors.certificates([first.certificate]).adding([second.certificate]))
        #expect(both != .certificates([first.certificate]))
        #expect(TrustAnchors.certificates([]) != .system)
        #expect(TrustAnchors.system.adding([]) == .system)
        #expect(TrustAnchors.system.adding([first.certificate]) != .system)
        #expect(TrustAnchors.system.adding([first.certificate]) != .certificates([first.certificate]))
        #expect(try both.store() === both.store())
        #expect(both.isLoaded)
    }

    @Test("own anchors replace the system's, unless they are added to it, T-TLS-57")
    func replacing() throws {
        let system = try TrustAnchors.system.store()

        #expect(try TrustAnchors.certificates([first.certificate]).store().count == 1)
        #expect(try TrustAnchors.certificates([]).store().count == 0)
        #expect(try TrustAnchors.system.adding([first.certificate]).store().count == system.count + 1)
        #expect(try TrustAnchors.system.store().count == system.count)
        let site = try first.issue(for: "good.test")
        let evaluate = { (anchors: TrustAnchors) in
            ChainEvaluator.evaluate(served: site.chain, policy: .tlsServer(nil), store: try anchors.store(), at: now)
        }
        #expect(try evaluate(.certificates([first.certificate])).isTrusted)
        #expect(try evaluate(.system.adding([first.certificate])).isTrusted)
        for anchors in [TrustAnchors.certificates([]), .certificates([second.certificate]), .system] {
            #expect(try evaluate(anchors).failure?.reason == .unknownRoot)
        }
    }

    @Test("anchors say what they are")
    func description() {
        #expect(TrustAnchors.system.description == "the system's authorities")
        #expect(TrustAnchors.certificates([first.certificate]).description == "1 own authority")
        #expect(TrustAnchors.certificates([]).description == "0 own authorities")
        #expect(TrustAnchors.system.adding([first.certificate]).description == "the system's authorities and 1 more")
    }

    // MARK: - The system's files

    private func trust(file: String? = nil, folder: String? = nil) -> SystemTrust {
        SystemTrust(paths: SystemTrustPaths { $0 == "SSL_CERT_FILE" ? file : folder })
    }

    @Test("one bad certificate of a bundle does not lose the others, T-TLS-57")
    func partlyBroken() throws {
        try withFolder { folder in
            let bundle = folder.appending(path: "bundle.pem")
            let third = try CertificateAuthority("Third")
            let broken = [
                second.pem.replacingOccurrences(of: "MII", with: "!!!"), String(second.pem.dropLast(40)) + "\n",
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            ]
            for damage in broken {
                try Data((first.pem + damage + third.pem).utf8).write(to: bundle)
                #expect(try trust(file: bundle.path).store().count == 2)
            }
        }
    }

    @Test("a store without certificates is an error that names both places, T-TLS-57")
    func nothingThere() throws {
        try withFolder { folder in
            let path = folder.path
            try Data().write(to: folder.appending(path: "empty.pem"))
            try Data("junk".utf8).write(to: folder.appending(path: "junk.pem"))
            try Data("junk".utf8).write(to: folder.appending(path: "01234567.0"))
            for file in ["/missing.pem", "/empty.pem", "/junk.pem", ""] {
                let system = trust(file: path + file, folder: path)
                let error = #expect(throws: TrustAnchorsError.self) { try system.store() }
                #expect(error?.message.contains(path + file) == true)
                #expect(error?.message.contains("; \(path): no certificate files") == true)
                #expect(!system.isLoaded)
            }
        }
    }

    @Test("a file that was named must be good: nothing else is trusted in its place, T-TLS-57")
    func namedFile() throws {
        try withFolder { folder in
            try Data(first.pem.utf8).write(to: folder.appending(path: "01234567.0"))

            let error = #expect(throws: TrustAnchorsError.self) {
                try trust(file: folder.path + "/none.pem", folder: folder.path).store()
            }
            #expect(error?.message.contains("SSL_CERT_FILE names it, but there is no such file") == true)
        }
    }

    @Test("a failure is tried again, a success never, T-TLS-57")
    func once() throws {
        try withFolder { folder in
            let file = folder.appending(path: "bundle.pem")
            let system = trust(file: file.path)
            #expect(throws: TrustAnchorsError.self) { try system.store() }
            try Data(first.pem.utf8).write(to: file)
            let store = try system.store()
            try Data((first.pem + second.pem).utf8).write(to: file)

            #expect(system.isLoaded)
            #expect(try system.store() === store)
            #expect(store.count == 1)
        }
    }

    @Test("a folder gives the files that are named by hash")
    func hashedFolder() throws {
        try withFolder { folder in
            for (name, authority) in [("0123abcd.0", first), ("0123abcd.1", second), ("other.pem", first)] {
                try Data(authority.pem.utf8).write(to: folder.appending(path: name))
            }
            try Data(second.pem.utf8).write(to: folder.appending(path: "bundle.pem"))
            let bundle = folder.path + "/bundle.pem"
            let none = folder.path + "/none"

            #expect(try trust(file: bundle, folder: "\(none):\(folder.path)").store().count == 2)
            #expect(try trust(file: bundle, folder: none).store().count == 1)
        }
    }

    @Test("the first caller loads the store for all, T-TLS-57")
    func threads() async throws {
        let system = SystemTrust(paths: SystemTrustPaths())
        let stores = try await withThrowingTaskGroup(of: TrustStore.self) { group in
            for _ in 0..<8 { group.addTask { try system.store() } }
            return try await group.reduce(into: [TrustStore]()) { $0.append($1) }
        }

        #expect(stores.count == 8)
        #expect(stores.allSatisfy { $0 === stores[0] })
    }

    /// Asks whether the authorities are loaded whenever a file of theirs is read.
    private final class Question: @unchecked Sendable {
        weak var system: SystemTrust?
        var answers: [Bool?] = []
    }

    @Test("whether they are loaded is known while files are read, and who asks does not wait")
    func askedWhileReading() throws {
        let question = Question()
        let bundle = Array(first.pem.utf8)
        let paths = SystemTrustPaths { $0 == "SSL_CERT_FILE" ? "/bundle.pem" : nil }
        let system = SystemTrust(paths: paths) { _ throws(CertificateError) in
            question.answers.append(question.system?.isLoaded)
            return bundle
        }
        question.system = system

        #expect(try system.store().count == 1)

        #expect(question.answers == [false] && system.isLoaded)
    }

    @Test("the environment names the places, unless the program has more rights than its user, T-TLS-75")
    func environment() {
        let none = SystemTrustPaths { _ in nil }
        let both = SystemTrustPaths { "/place/of/\($0)" }

        #expect(none.file.hasSuffix("cert.pem") && none.folder.hasSuffix("certs"))
        #expect(!none.namesFile && !none.namesFolder)
        #expect(both.file == "/place/of/SSL_CERT_FILE" && both.folder == "/place/of/SSL_CERT_DIR")
        #expect(both.namesFile && both.namesFolder)
        #expect(SystemTrustPaths.variable("AFTLS_NO_SUCH_VARIABLE") == nil)
        #expect(SystemTrustPaths.variable("PATH")?.isEmpty == false)
        #expect(SystemTrustPaths.variable("PATH", isPrivileged: true) == nil)
    }
}
