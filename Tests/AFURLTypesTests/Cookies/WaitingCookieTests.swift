import AFRequest
import AFTestFixtures
import AFTestSupport
import Foundation
import Testing

@testable import AFState
@testable import AFURLTypes

extension CookieRules {
    @Suite struct Waiting {
        @Test func `T-COO-04 a program that asks for cookies waits for the list itself`() throws {
            let gate = try GatedSuffixes()
            let storage = HTTPCookieStorage(source: gate.source, clock: { 1000 })
            let question = try CookieRules.question("http://a.lib.de.us/")
            let lines = ["wide=1; Domain=lib.de.us", "shop=1; Domain=a.lib.de.us"].map { Array($0.utf8) }

            #expect(storage.receive(lines, for: question, now: 1000) == 0)
            #expect(storage.cookieFieldBytes(for: question, now: 1000) == nil)
            DispatchQueue.global().async { gate.open() }

            #expect(storage.cookies?.map(\.name) == ["shop"])
            #expect(storage.refusedCookieCount == 1)
        }

        @Test func `T-COO-04 cookies of the program and those in a file are judged by the list`() throws {
            let folder = try ScratchFolder()
            let properties: [HTTPCookiePropertyKey: Any] = [
                .name: "wide", .value: "1", .domain: ".lib.de.us", .path: "/", .maximumAge: "600", .version: "1",
            ]
            let wide = try #require(HTTPCookie(properties: properties))
            let url = try #require(URL(string: "http://a.lib.de.us/"))
            let lax = HTTPCookieStorage(file: folder.file("c"), source: PublicSuffixSource(CookieRules.list("us")))
            lax.setCookie(wide)
            #expect(lax.cookies?.count == 1)
            try lax.flush()

            let gates = try (0..<3).map { _ in try GatedSuffixes() }
            for gate in gates { DispatchQueue.global().async { gate.open() } }

            #expect(HTTPCookieStorage(file: folder.file("c"), source: gates[0].source).cookies == [])
            let own = HTTPCookieStorage(source: gates[1].source)
            own.setCookie(wide)
            let foreign = HTTPCookieStorage(source: gates[2].source)
            foreign.setCookies([wide], for: url, mainDocumentURL: nil)
            #expect(own.cookies == [] && foreign.cookies == [])
            #expect(own.refusedCookieCount == 1 && foreign.refusedCookieCount == 1)
        }

        @Test func `T-COO-04 a cookie that waits for the list is in the file after a flush`() throws {
            let folder = try ScratchFolder()
            let gate = try GatedSuffixes()
            let storage = HTTPCookieStorage(file: folder.file("c"), source: gate.source)
            let question = try CookieRules.question("http://a.example.org/")
            storage.receive([Array("a=1; Domain=example.org; Max-Age=600".utf8)], for: question, now: Date.nowInSeconds)

            DispatchQueue.global().async { gate.open() }
            try storage.flush()

            #expect(HTTPCookieStorage(fileURL: folder.file("c")).cookies?.map(\.domain) == [".example.org"])
        }

        @Test func `T-COO-04 a flush has what another thread judges at that moment`() throws {
            let folder = try ScratchFolder()
            let question = try CookieRules.question("http://a.example.org/")
            for round in 1...500 {
                let (gate, file) = (try GatedSuffixes(), folder.file("\(round)"))
                let storage = HTTPCookieStorage(file: file, source: gate.source)
                let line = Array("a=1; Domain=example.org; Max-Age=600".utf8)
                storage.receive([line], for: question, now: Date.nowInSeconds)

                storage.whenJudged {}
                DispatchQueue.global().async { gate.open() }
                try storage.flush()

                #expect(FileManager.default.fileExists(atPath: file.path), "round \(round)")
            }
        }

        @Test func `a cookie that waits for the list can be removed without it`() throws {
            let gate = try GatedSuffixes()
            let storage = HTTPCookieStorage(source: gate.source, clock: { 1000 })
            let question = try CookieRules.question("http://a.example.org/")
            for time in [1000, 2000] as [Int64] {
                storage.receive([Array("at\(time)=1".utf8)], for: question, now: time)
            }

            // It would wait for ever otherwise: nothing opens the gate.
            storage.removeCookies(since: Date(timeIntervalSince1970: 2000))
            gate.open()
            #expect(storage.cookies?.map(\.name) == ["at1000"])
        }

        @Test func `T-COO-30 a part of another site's page is told apart by the list from the first cookie on`() throws
        {
            let gate = try GatedSuffixes()
            let storage = HTTPCookieStorage(source: gate.source, clock: { 1000 })
            let question = try CookieRules.question("http://b.lib.de.us/", in: "http://a.lib.de.us/")
            storage.receive([Array("a=1; SameSite=Lax".utf8)], for: question, now: 1000)

            gate.open()

            #expect(storage.cookies == [] && storage.refusedCookieCount == 1)
        }

        @Test func `T-COO-21 sites are counted by the list that came last`() throws {
            let source = PublicSuffixSource(CookieRules.list("us"))
            let limits = CookieLimits(perDomain: 2, total: 4)
            let storage = HTTPCookieStorage(limits: limits, source: source, clock: { 1000 })
            for host in ["a", "b", "c", "d"] {
                let question = try CookieRules.question("http://\(host).de.us/")
                storage.receive([Array("\(host)=1".utf8)], for: question, now: 1000)
            }
            let folder = try ScratchFolder()
            try Data("us\nde.us\n".utf8).write(to: folder.file("list"))
            try source.replace(withFileAt: folder.file("list").path)
            // One site by the first list, which would lose the cookies of `e` first; five sites by the second.
            for name in ["e", "f"] {
                let question = try CookieRules.question("http://e.de.us/")
                storage.receive([Array("\(name)=1".utf8)], for: question, now: 1000)
            }

            #expect(storage.cookies?.map(\.name) == ["c", "d", "e", "f"])
        }
    }
}
