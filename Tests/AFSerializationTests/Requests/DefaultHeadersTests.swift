@testable import AFSerialization

@Suite("Header fields of new request serializers")
struct DefaultHeadersTests {
    @Test("8.3 Accept-Language counts down by tenths, and ends with a half")
    func languages() {
        let many = ["en", "de", "fr", "es", "it", "pt", "ja", "zh"]

        #expect(
            DefaultHeaders.acceptLanguage(many) == "en;q=1, de;q=0.9, fr;q=0.8, es;q=0.7, it;q=0.6, pt;q=0.5"
        )
        #expect(DefaultHeaders.acceptLanguage(["en"]) == "en;q=1")
        #expect(DefaultHeaders.acceptLanguage([]) == nil)
    }

    @Test(
        "languages come from the environment, by the rules of gettext",
        arguments: [
            (["LANG": "en_US.UTF-8"], ["en-US"]),
            (["LANG": "de_DE", "LC_MESSAGES": "fr_FR.UTF-8"], ["fr-FR"]),
            (["LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": "it"], ["it"]),
            (["LANG": "de_DE", "LC_ALL": ""], ["de-DE"]),
            (["LANG": "de_DE", "LANGUAGE": "sv:en_GB:de_DE:xx1234567890"], ["sv", "en-GB", "de-DE"]),
            (["LANG": "C.UTF-8", "LANGUAGE": "de"], []),
            (["LANG": "C"], []), (["LC_ALL": "POSIX", "LANG": "de_DE"], []), ([:], []),
            (["LANG": "sr_RS@latin"], ["sr-Latn-RS"]), (["LANG": "de_DE@euro"], ["de-DE"]),
            (["LANG": "zh_Hant_TW"], ["zh-Hant-TW"]), (["LANG": "de\r\nX: 1"], []), (["LANG": "éé_FR"], []),
        ] as [([String: String], [String])]
    )
    func environment(environment: [String: String], languages: [String]) {
        #expect(PreferredLanguages.of(environment) == languages)
    }

    @Test("14 requests: User-Agent is ASCII, whatever the program is called")
    func userAgent() {
        #expect(DefaultHeaders.userAgent(of: "tool", version: "1.2", on: "6.1.0") == "tool/1.2 (Linux 6.1.0)")
        #expect(DefaultHeaders.ascii("Größe") == "Grosse" || DefaultHeaders.ascii("Größe") == "Groe")
        #expect(DefaultHeaders.ascii("a(b)\\\r\n\0c\u{7F}") == "abc")
        #expect(DefaultHeaders.userAgent(of: "\u{1F600}", version: "1", on: "6").hasSuffix("/1 (Linux 6)"))
        for name in ["привет", "東京", "e\u{301}", "😀", ""] {
            let agent = DefaultHeaders.userAgent(of: name, version: "1", on: "6")
            #expect(agent.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && !agent.hasPrefix("/"))
        }
    }

    @Test("both are set on a new serializer, and may be changed")
    func standard() {
        let serializer = HTTPRequestSerializer()
        let agent = serializer.value(forHTTPHeaderField: "User-Agent") ?? ""

        #expect(agent.contains("/") && agent.contains("(Linux "))
        let expected = DefaultHeaders.acceptLanguage(PreferredLanguages.ofThisProcess)
        #expect(serializer.value(forHTTPHeaderField: "Accept-Language") == expected)
        serializer.setValue("mine", forHTTPHeaderField: "User-Agent")
        #expect(HTTPRequestSerializer().value(forHTTPHeaderField: "User-Agent") == agent)
    }
}
