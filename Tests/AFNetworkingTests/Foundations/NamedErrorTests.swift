@testable import AFNetworking
@testable import AFSerialization

/// Errors that say which file, which text and which types.
@Suite struct NamedErrorTests {
    private let site: ManagerSite

    init() throws {
        site = try ManagerSite()
    }

    @Test func `a URL that cannot be parsed is quoted, without what may be secret`() throws {
        let serializer = HTTPRequestSerializer()
        let rows = [
            "http://[": "\"http://[\"", "http://[?token=CANARY": "\"http://[\"",
            "http://me:CANARY@[/a": "\"http://.../a\"", "//me:CANARY@[/": "\"//.../\"",
            "http://me:CANARY:x/": "\"http://.../\"", "http://[::1:80/a": "\"http://.../a\"",
        ]
        for (text, quoted) in rows {
            let error = #expect(throws: NSError.self) {
                try serializer.request(withMethod: "GET", urlString: text, parameters: nil)
            }
            let words = error?.localizedDescription ?? ""
            #expect(words.contains(quoted), "\(words)")
            #expect(!words.contains("CANARY"), "\(words)")
        }
    }

    @Test func `with a base URL no text from outside names a server in an error`() {
        let error = RequestError.unusableURL("ht\ttp://evil.test:80/a?b", isRelative: true)
        #expect(error.localizedDescription.contains("\"ht\\ttp://.../a\"") && !"\(error)".contains("evil"))
        #expect(RequestError.unusableURL("a%", isRelative: true).localizedDescription.contains("\"a%\""))
    }

    @Test func `a URL without a scheme is quoted`() async throws {
        let manager = HTTPSessionManager(sessionConfiguration: .ephemeral)
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }

        let plain = await #expect(throws: RequestFailure.self) { try await manager.get("users/1?token=CANARY") }
        let other = await #expect(throws: RequestFailure.self) { try await manager.get("//me:CANARY@a.test/") }

        #expect(plain?.urlError?.code == .unsupportedURL)
        let words = plain?.localizedDescription ?? ""
        #expect(words.contains("the scheme of the URL is missing, at byte 0: \"users/1\""))
        #expect(other?.localizedDescription.contains("CANARY") == false)
    }

    @Test func `a file that is missing is named`() throws {
        var found: NSError?
        _ = try HTTPRequestSerializer().multipartFormRequest(
            withMethod: "POST",
            urlString: "http://a.test/",
            parameters: nil,
            constructingBodyWith: { form in
                do {
                    try form.appendPart(withFileURL: URL(fileURLWithPath: "/nowhere/a.txt"), name: "a")
                } catch {
                    found = error as NSError
                }
            }
        )
        #expect(found?.localizedFailureReason == "File URL not reachable.")
        #expect(found?.localizedDescription.contains("/nowhere/a.txt") == true)
    }

    @Test func `a destination that is missing is named, and no file is handed over`() async throws {
        let heard = Heard<(URL?, (any Error)?)>()
        let place = URL(fileURLWithPath: "/nowhere/at/all")
        site.manager.completionQueue = .global()

        site.manager.downloadTask(with: site.request("/get"), progress: nil, destination: { _, _ in place }) {
            heard.add(($1, $2))
        }
        .resume()

        let (file, error) = try await heard.first
        #expect(file == nil)
        #expect(error?.localizedDescription.contains("/nowhere/at/all: No such file or directory") == true)
    }

    @Test func `an unacceptable content type comes with those that are acceptable`() async throws {
        site.server.route("GET", "/text", .text("hello"))

        let failure = await #expect(throws: RequestFailure.self) { try await site.manager.get("text") }

        #expect(failure?.kind == .contentType)
        let advice = failure?.localizedRecoverySuggestion ?? ""
        #expect(advice.contains("acceptableContentTypes") && advice.contains("application/json, text/javascript"))
    }

    @Test func `plain http to a port for TLS is recognized`() async throws {
        let secured = try ManagerSite(tls: true)
        let url = "http://127.0.0.1:\(secured.server.port)/get"

        let failure = await #expect(throws: RequestFailure.self) { try await secured.manager.get(url) }

        #expect(failure?.loadFailure?.advice == "If the server speaks TLS on this port, use https.")
    }

    @Test func `a pin failure printed says each pin once`() async throws {
        let secured = try ManagerSite(tls: true)
        let manager = secured.manager
        let other = try CertificateAuthority("Other")
        manager.securityPolicy = SecurityPolicy(pinningMode: .publicKey, certificates: [other.certificate])

        let failure = await #expect(throws: RequestFailure.self) { try await manager.get("get") }

        let load = try #require(failure?.loadFailure)
        let pin = try #require(load.security?.servedChain.first?.pin.description)
        #expect(load.description.components(separatedBy: pin).count == 2, "\(load)")
        let printed = failure.map { "\($0)" } ?? ""
        #expect(printed.components(separatedBy: pin).count == 2, "\(printed)")
        // By itself it shows what the server showed.
        #expect(load.security?.description.contains(pin) == true)
    }
}
