import AFBase
import AFLoop
import AFWire
import Dispatch
import Foundation
import Testing

@testable import AFState
@testable import AFURLTypes

extension CookieRules {
    struct Storage {
        private let cookies = Cookies()

        private static func cookie(
            _ name: String,
            _ domain: String = "example.com",
            path: String = "/",
            _ more: [HTTPCookiePropertyKey: Any] = [:]
        ) throws -> HTTPCookie {
            let properties: [HTTPCookiePropertyKey: Any] = [.name: name, .value: "1", .domain: domain, .path: path]
            return try #require(HTTPCookie(properties: properties.merging(more) { $1 }))
        }

        private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

        @Test("one decision for both directions, by the stricter of the storage's and the session's policy, T-COO-30")
        func policies() throws {
            let policies: [HTTPCookie.AcceptPolicy] = [.always, .never, .onlyFromMainDocumentDomain]
            let documents: [(String?, isForeign: Bool)] = [
                (nil, false), ("http://example.com/", false), ("http://other.example.com/", false),
                ("http://evil.com/", true), ("http://1.2.3.4/", true), ("app://x", true),
            ]
            for own in policies {
                for session in policies {
                    for (document, isForeign) in documents {
                        let cookies = Cookies()
                        try cookies.receive("old=1", from: "http://www.example.com/")
                        cookies.storage.cookieAcceptPolicy = own
                        let isNever = own == .never || session == .never
                        let isLimited = own == .onlyFromMainDocumentDomain || session == .onlyFromMainDocumentDomain
                        let isAllowed = !isNever && !(isLimited && isForeign)
                        let place = "http://www.example.com/"

                        let refused = try cookies.receive("new=1", from: place, in: document, policy: session)
                        let sent = try cookies.sent(to: place, in: document, policy: session)

                        #expect((refused == 0) == isAllowed)
                        #expect(sent == (isAllowed ? "old=1; new=1" : nil))
                        guard session == .always else { continue }
                        let set = try Storage.cookie("set", "www.example.com")
                        let main = document.flatMap { URL(string: $0) }
                        cookies.storage.setCookies([set], for: try url(place), mainDocumentURL: main)
                        let names = Set(cookies.storage.cookies?.map(\.name) ?? [])
                        #expect(names.contains("set") == isAllowed)
                        cookies.storage.setCookie(set)
                        #expect((cookies.storage.cookies ?? []).contains(set) == (own != .never))
                        #expect(cookies.storage.cookies(for: try url(place))?.isEmpty == (own == .never))
                    }
                }
            }
        }

        @Test func `cookies of the program's own are stored, found and removed`() throws {
            let storage = Cookies().storage
            storage.setCookie(try Storage.cookie("a"))
            storage.setCookie(try Storage.cookie("b", ".example.com", path: "/x"))
            storage.setCookie(try Storage.cookie("c", ".com"))

            #expect(storage.cookies?.map(\.name) == ["a", "b"])
            #expect(storage.refusedCookieCount == 1)
            #expect(storage.cookies(for: try url("http://www.example.com/x/y"))?.map(\.name) == ["b"])
            #expect(storage.cookies(for: try url("file:///x")) == nil)
            storage.deleteCookie(try Storage.cookie("b", "example.com", path: "/x"))
            #expect(storage.cookies?.count == 2)
            storage.deleteCookie(try Storage.cookie("b", ".example.com", path: "/x"))
            storage.setCookie(try Storage.cookie("a", "example.com", [.expires: Date.distantPast]))
            #expect(storage.cookies == [])
            #expect(storage.isEmpty)
        }

        @Test func `a server's cookies are stored for that server only`() throws {
            let storage = Cookies().storage
            let cookies = [
                try Storage.cookie("own", "www.example.com"), try Storage.cookie("up", ".example.com"),
                try Storage.cookie("foreign", "other.com"), try Storage.cookie("sibling", "a.example.com"),
                try Storage.cookie("secured", "www.example.com", [.secure: "TRUE"]),
            ]

            storage.setCookies(cookies, for: try url("http://www.example.com/"), mainDocumentURL: nil)

            #expect(storage.cookies?.map(\.name) == ["own", "up"])
            storage.setCookies(cookies, for: nil, mainDocumentURL: nil)
            #expect(storage.cookies?.count == 5)
        }

        @Test("only cookies that a server could set can be set on its behalf, T-COO-01, T-COO-10")
        func onBehalfOfServers() throws {
            let secured = try Storage.cookie("secured", "www.example.com", [.secure: "TRUE"])
            let registry = try Storage.cookie("registry", ".com")
            let strict = try Storage.cookie("strict", "www.example.com", [.sameSitePolicy: "strict"])
            let cases: [(HTTPCookie, place: String, document: String?, isStored: Bool)] = [
                (secured, "https://www.example.com/", nil, true), (secured, "http://www.example.com/", nil, false),
                (registry, "http://www.example.com/", nil, false), (registry, "https://www.example.com/", nil, false),
                (strict, "http://www.example.com/", nil, true),
                (strict, "http://www.example.com/", "http://example.com/", true),
                (strict, "http://www.example.com/", "http://evil.com/", false),
            ]
            for (cookie, place, document, isStored) in cases {
                let storage = Cookies().storage
                let main = document.flatMap { URL(string: $0) }
                storage.setCookies([cookie], for: try url(place), mainDocumentURL: main)
                #expect(storage.cookies?.count == (isStored ? 1 : 0), "\(cookie.name) at \(place) in \(document ?? "")")
                #expect(storage.refusedCookieCount == (isStored ? 0 : 1))
            }
        }

        @Test func `cookies are sorted and removed by time`() throws {
            let now = Lock<Int64>(1000)
            let storage = HTTPCookieStorage(source: PublicSuffixSource(CookieRules.suffixes)) { now.withLock { $0 } }
            for name in ["b", "a", "c"] {
                storage.setCookie(try Storage.cookie(name))
                now.withLock { $0 += 10 }
            }

            let order = [NSSortDescriptor(keyPath: \HTTPCookie.name, ascending: false)]
            #expect(storage.sortedCookies(using: order).map(\.name) == ["c", "b", "a"])
            #expect(storage.sortedCookies(using: []).map(\.name) == ["b", "a", "c"])
            storage.removeCookies(since: Date(timeIntervalSince1970: 1010))
            #expect(storage.cookies?.map(\.name) == ["b"])
        }

        @Test func `ports that the program has named are kept to`() throws {
            cookies.storage.setCookie(try Storage.cookie("p", "example.com", [.port: "8080"]))

            #expect(try cookies.sent(to: "http://example.com/") == nil)
            #expect(try cookies.sent(to: "http://example.com:8080/") == "p=1")
        }

        @Test func `observers hear of changes, and of nothing else`() async throws {
            let heard = Watched<[String]>([])
            let names: [NSNotification.Name] = [
                .NSHTTPCookieManagerCookiesChanged, .NSHTTPCookieManagerAcceptPolicyChanged,
            ]
            let tokens = names.map { name in
                NotificationCenter.default.addObserver(forName: name, object: cookies.storage, queue: nil) { _ in
                    heard.change { $0.append(name.rawValue) }
                }
            }
            defer { tokens.forEach(NotificationCenter.default.removeObserver) }

            try cookies.receive("a=b", from: "http://host.com/")
            try await heard.wait { $0.count == 1 }
            try cookies.receive("a=b", "bad\u{1}=x", from: "http://host.com/")
            _ = try cookies.sent(to: "http://host.com/")
            cookies.storage.cookieAcceptPolicy = .always
            cookies.storage.cookieAcceptPolicy = .never
            try await heard.wait { $0.count >= 2 }
            cookies.storage.cookieAcceptPolicy = .always
            try await heard.wait { $0.count >= 3 }

            #expect(heard.value == [names[0].rawValue, names[1].rawValue, names[1].rawValue])
        }

        @Test("sixteen threads use one store, T-COO-27")
        func threads() throws {
            let question = try CookieRules.question("http://host.com/")
            let wrong = Lock(0)
            DispatchQueue.concurrentPerform(iterations: 16) { thread in
                for round in 0..<200 {
                    let line = Array("n\(thread)=\(round); Max-Age=\(round % 7 == 0 ? 0 : 100)".utf8)
                    cookies.storage.receive([line], for: question, now: 1000)
                    let field = cookies.storage.cookieField(for: question, now: 1000) ?? ""
                    let all = cookies.storage.cookies ?? []
                    let isWhole = field.isEmpty || field.split(separator: ";").allSatisfy { $0.contains("=") }
                    if !isWhole || all.count > 16 { wrong.withLock { $0 += 1 } }
                    if round % 50 == 49 { cookies.storage.removeCookies(since: .distantPast) }
                }
            }
            #expect(wrong.withLock { $0 } == 0)
            #expect(cookies.storage.isEmpty)
        }

        @Test func `groups have a store each`() {
            let one = HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "test.one")
            #expect(one === HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "test.one"))
            #expect(one !== HTTPCookieStorage.sharedCookieStorage(forGroupContainerIdentifier: "test.two"))
            #expect(one !== HTTPCookieStorage.shared)
        }
    }
}
