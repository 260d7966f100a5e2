@testable import AFURLSession
@testable import AFURLTypes

extension MonitoringTests {
    @Suite("What is a secret by its name")
    struct Names {
        static let secrets = [
            "Authorization", "Proxy-Authorization", "X-Authorisation", "Cookie", "Cookie2", "X-Api-Key", "X-Auth-Token",
            "X-Amz-Security-Token", "X-Csrf-Token", "Api-Key", "Private-Token", "X-Goog-Api-Key", "X-Vault-Token",
            "Ocp-Apim-Subscription-Key", "X-XSRF", "PASSWORD", "X-Session-Id", "x-credentials", "apikey", "Key",
            "X-Author-Token", "DPoP-Signature", "X-Client-Assertion", "authtoken", "X-Keyword-Key",
        ]
        static let others = [
            "Accept", "Content-Type", "User-Agent", "Idempotency-Key", "idempotency_key", "Sec-WebSocket-Key",
            "X-Author",
            "Author", "Authority", ":authority", "Keep-Alive", "Keywords", "X-Keyboard", "Surrogate-Key", "Cache-Key",
            "WWW-Authenticate", "Proxy-Authenticate", "Access-Control-Allow-Credentials",
            "If-None-Match", "X-Request-Id", "X-Other", "Range", "",
        ]

        @Test(arguments: secrets)
        func `T-RED-08 a field with such a name is shown nowhere, and follows to no other origin`(
            name: String
        ) throws {
            #expect(SecretNames.containsField(name) && SecretNames.containsItem(name.lowercased()))
            #expect(RedirectPolicy().withholds(name) && RedirectPolicy().withholds(name.uppercased()))
            #expect(!SecretMask().value("canary", of: name).contains("canary"))
            var request = URLRequest(url: try #require(URL(string: "http://a.test/?\(name)=canary&x=y")))
            request.setValue("canary", forHTTPHeaderField: name)
            #expect(!request.curlCommand().contains("canary"))
        }

        @Test(arguments: others)
        func `other fields are shown`(name: String) {
            #expect(!SecretNames.containsField(name) && !SecretNames.containsItem(name))
            #expect(SecretMask().value("seen", of: name) == "seen")
        }

        @Test(arguments: ["code", "user_code", "device-code", "code_verifier", "sig", "pass", "pwd", "PIN", "otp"])
        func `some items are secrets where a field of that name is none`(name: String) {
            #expect(SecretNames.containsItem(name) && !SecretNames.containsField(name))
            #expect(!SecretNames.containsItem("zip\(name)"))
        }

        @Test func `T-RED-08 a field with such a name stays with its origin, also with an added name`() async throws {
            let servers = [try TestServer(), try TestServer()]
            servers[1].route("GET", "/2", .text("x"))
            let names = Names.secrets.filter { $0 != "Key" && !$0.hasPrefix("Cookie") && !$0.hasPrefix("Proxy") }
            servers[0].route(
                "GET",
                "/1",
                ServerReply.status(302).header("Location", servers[1].url("/2").absoluteString)
            )
            var request = URLRequest(url: servers[0].url("/1"))
            for name in names + ["X-Stays", "Idempotency-Key"] { request.setValue("canary", forHTTPHeaderField: name) }

            #expect(try await URLSession.loopback().outcome(of: request).text == "x")
            let first = try #require(servers[0].requests.first)
            let next = try #require(servers[1].requests.first)
            #expect(names.allSatisfy { first.headers[$0] == "canary" })
            #expect(names.filter { next.headers[$0] != nil } == [])
            #expect(next.headers["X-Stays"] == "canary" && next.headers["Idempotency-Key"] == "canary")
        }
    }
}

extension LoopbackTests.Alone {
    @Test func `T-RED-08 a program adds names of its own, for all that is shown and sent`() async {
        await #expect(processExitsWith: .success) {
            #expect(SecretNames.added == [] && !SecretNames.containsField("X-Tenant"))
            SecretNames.added.insert("X-Tenant")
            SecretNames.added.insert("deep_link")

            #expect(SecretNames.added == ["X-Tenant", "deep_link"])
            for name in ["x-tenant", "X-TENANT", "X_Tenant", "Deep-Link"] {
                #expect(SecretNames.containsField(name) && SecretNames.containsItem(name))
            }
            #expect(RedirectPolicy().withholds("x-tenant") && SecretMask().value("canary", of: "X-Tenant") == "***")
            let url = try #require(URL(string: "http://me:canary@a.test/?deep_link=canary&b=1#canary"))
            #expect(SecretNames.masked(url) == "http://a.test/?deep_link=***&b=1")
            SecretNames.added = []
            #expect(!RedirectPolicy().withholds("X-Tenant"))
        }
    }
}
