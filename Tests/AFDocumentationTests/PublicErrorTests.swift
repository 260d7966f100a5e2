import Foundation
import Testing

@testable import AFImages
@testable import AFNetworking
@testable import AFNetworkingTesting
@testable import AFSerialization
@testable import AFState
@testable import AFTLS
@testable import AFURLSession
@testable import AFURLTypes
@testable import AFWire

/// Every error that users meet says what happened, in each way it can be asked.
@Suite struct PublicErrorTests {
    /// One of each type, by its name.
    private static func examples() throws -> [String: any Error & CustomStringConvertible] {
        let root = try CertificateAuthority()
        let chain = try root.issue(for: "a.test").chain
        let trust = ServerTrust(servedChain: chain, host: "b.test", anchors: .certificates([root.certificate]))
        let untrusted = try #require(trust.evaluation.failure)
        let failure = try #require(LoadFailure(.untrusted(untrusted), trust: trust, port: 443))
        let url = URL(string: "https://b.test/")
        let refused = UntrustedServer.error(trust, url: url, underlying: ErrorMapping.error(failure, url: url))
        let all: [any Error & CustomStringConvertible] = [
            CertificateError(.empty, message: "there are no bytes", path: "/a.pem"),
            CertificateMakingError("signing", because: "of this"),
            ClientIdentityError(.noKey, input: .pem, message: "there is no private key", path: "/a.pem"),
            CookieFileError(.damaged, at: "/jar"),
            HostPatternError(pattern: "a b", message: "it is not a host name"),
            ImageError(.empty, text: "There are no bytes"),
            InvalidSecurityPolicy(baseURL: URL(string: "http://a.test/")),
            failure,
            ClientViolation(reason: "a frame without a mask"),
            NetrcError(.malformed(line: 3), at: "/netrc"),
            PageRefusal(reason: .limit(3), url: try #require(url)),
            PinError("sha1/x"),
            ProxyConfigurationError(.port, in: "http_proxy"),
            PublicKeyPinError(count: 31),
            PublicSuffixFailure(path: "/list", fault: .malformed),
            RequestFailure(refused),
            StructuredFieldError("the token \"\": a string can"),
            TestServerError.timedOut(waitingFor: "a request", seen: "nothing"),
            TrustAnchorsError(message: "no authority could be loaded"),
            untrusted,
        ]
        return Dictionary(uniqueKeysWithValues: all.map { ("\(type(of: $0))", $0) })
    }

    /// The names of the public types that are errors, as the sources declare them.
    private static func declared() throws -> Set<String> {
        var names: Set<String> = []
        for file in try Repository.files(in: "Sources", endingWith: ".swift") {
            let lines = try Repository.text(file).split(separator: "\n", omittingEmptySubsequences: true)
            let code = lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
            let types = /public (?:final |indirect )*(?:struct|enum|class|actor) (\w+)(?:<[^{]*?>)?\s*:([^{]*)\{/
            let extensions = /(?:public )?extension (\w+)\s*:([^{]*)\{/
            for match in code.matches(of: types) where isError(match.output.2) {
                names.insert(String(match.output.1))
            }
            // Not those of other modules, nor of types that are no business of users.
            for match in code.matches(of: extensions) where isError(match.output.2) {
                let name = match.output.1
                let pattern = "public (final )?(struct|enum|class|actor) \(name)\\b"
                if code.range(of: pattern, options: .regularExpression) != nil { names.insert(String(name)) }
            }
        }
        return names
    }

    private static func isError(_ parents: Substring) -> Bool {
        parents.split { ", &\n".contains($0) }.contains { ["Error", "LocalizedError", "CustomNSError"].contains($0) }
    }

    @Test func `no public error is forgotten here`() throws {
        let declared = try Self.declared()

        #expect(declared.count > 15)
        #expect(declared.symmetricDifference(try Self.examples().keys).sorted() == [])
    }

    @Test func `the localized description of every public error is what it says as text`() throws {
        for (name, error) in try Self.examples() {
            let text = (error as any Error).localizedDescription
            #expect(error is any LocalizedError, "\(name)")
            #expect(!text.contains("could not be completed") && !text.isEmpty, "\(name): \(text)")
            #expect((error as NSError).localizedDescription == text, "\(name)")
            // These two say more in the description: the kind, and what was tried.
            guard !["RequestFailure", "LoadFailure"].contains(name) else {
                #expect(error.description.contains(text), "\(name)")
                continue
            }
            #expect(text == error.description, "\(name)")
        }
    }

    @Test func `printed, described, reflected and dumped an error shows nothing of how it is made`() throws {
        for (name, error) in try Self.examples() {
            for (way, text) in Self.renderings(of: error) {
                let words = ["Lock<", "Storage", "Pointer", "AFLoop", "(Function)"].filter(text.contains)
                // A pin, which is Base64, may have "0x" too.
                let hidden = words + text.matches(of: /0x[0-9a-f]{8}/).map { String($0.output) }
                #expect(hidden == [], "\(name), \(way): \(text)")
            }
        }
    }

    private static func renderings(of error: any Error) -> [(String, String)] {
        var dumped = ""
        dump(error, to: &dumped)
        let bridged = error as NSError
        var dumpedDetails = ""
        dump(bridged.userInfo, to: &dumpedDetails)
        return [
            ("print", "\(error)"), ("reflecting", String(reflecting: error)), ("dump", dumped),
            ("NSError", "\(bridged)"), ("userInfo", dumpedDetails), ("localized", error.localizedDescription),
        ]
    }

    @Test func `what a server showed is printed as names`() throws {
        let root = try CertificateAuthority()
        let trust = ServerTrust(servedChain: [root.certificate], host: "b.test", anchors: .certificates([]))

        #expect("\(trust)".hasPrefix("trust of b.test: 1 from the server, the first: certificate \""))
        #expect(!"\(trust)".contains("\n") && String(reflecting: trust) == "\(trust)")
        let bare = ServerTrust(servedChain: [], host: "b.test", anchors: .system)
        #expect("\(bare)" == "trust of b.test: no certificate")
    }
}
