import Foundation
import Testing

@testable import AFURLTypes

private typealias Request = AFURLTypes.URLRequest

struct URLRequestTests {
    private static func request(_ text: String = "http://a.test/") throws -> AFURLTypes.URLRequest {
        AFURLTypes.URLRequest(url: try #require(URL(string: text)))
    }

    @Test func `the defaults are Apple's`() throws {
        let request = try Self.request()

        #expect(request.httpMethod == "GET")
        #expect(request.timeoutInterval == 60)
        #expect(request.cachePolicy == .useProtocolCachePolicy)
        #expect(request.allHTTPHeaderFields == nil)
        #expect(request.httpBody == nil)
        #expect(request.contents.explicitTimeout == nil)
        #expect(request.contents.explicitCachePolicy == nil)
    }

    @Test func `a property that is set is remembered as set, even with its default`() throws {
        let url = try #require(URL(string: "http://a.test/"))
        var changed = Request(url: url)
        changed.timeoutInterval = 60

        #expect(changed.contents.explicitTimeout == 60)
        #expect(Request(url: url, timeoutInterval: 60).contents.explicitTimeout == 60)
        #expect(
            Request(url: url, cachePolicy: .useProtocolCachePolicy).contents.explicitCachePolicy
                == .useProtocolCachePolicy
        )
        #expect(Request(url: url, cachePolicy: .reloadRevalidatingCacheData).contents.explicitTimeout == nil)
        let both = Request(url: url, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 5)
        #expect(both.contents.explicitTimeout == 5 && both.cachePolicy == .returnCacheDataElseLoad)
    }

    @Test func `a copy does not change with the original`() throws {
        var original = try Self.request()
        original.setValue("1", forHTTPHeaderField: "X")
        let copy = original

        original.setValue("2", forHTTPHeaderField: "X")
        original.httpMethod = "PUT"
        original.url = nil

        #expect(copy.value(forHTTPHeaderField: "x") == "1")
        #expect(copy.httpMethod == "GET")
        #expect(copy.url != nil)
    }

    @Test func `setting the method to nil restores GET`() throws {
        var request = try Self.request()
        request.httpMethod = "PUT"

        request.httpMethod = nil

        #expect(request.httpMethod == "GET")
    }

    @Test func `fields are found, replaced and removed without regard to case`() throws {
        var request = try Self.request()
        request.setValue("1", forHTTPHeaderField: "Content-Type")

        request.setValue("2", forHTTPHeaderField: "content-type")

        #expect(request.value(forHTTPHeaderField: "CONTENT-TYPE") == "2")
        #expect(request.allHTTPHeaderFields == ["Content-Type": "2"])
        request.setValue(nil, forHTTPHeaderField: "content-type")
        #expect(request.value(forHTTPHeaderField: "Content-Type") == nil)
    }

    @Test func `there are no fields until some are set, and an empty dictionary once they were`() throws {
        var request = try Self.request()
        request.setValue(nil, forHTTPHeaderField: "X")
        #expect(request.allHTTPHeaderFields == nil)

        request.allHTTPHeaderFields = [:]
        #expect(request.allHTTPHeaderFields == [:])
        #expect(try request == Self.request())

        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil)
        request.addValue("1", forHTTPHeaderField: "X")
        request.setValue(nil, forHTTPHeaderField: "x")
        #expect(request.allHTTPHeaderFields == [:])
    }

    @Test(arguments: [
        ("get", "GET"), ("Head", "HEAD"), ("pOST", "POST"), ("put", "PUT"), ("dELETe", "DELETE"),
        ("connect", "CONNECT"),
        ("patch", "patch"), ("options", "options"), ("Trace", "Trace"), ("foo", "foo"), ("PATCH", "PATCH"), ("", ""),
        ("po\u{17F}t", "po\u{17F}t"),
    ])
    func `T-REQ-03 six methods become upper case, all others stay as they are`(given: String, kept: String) throws {
        var request = try Self.request()
        request.httpMethod = given
        let object = NSMutableURLRequest(url: try #require(request.url))
        object.httpMethod = given

        #expect(request.httpMethod == kept && object.httpMethod == kept)
    }

    @Test func `a relative URL is resolved when a request is made, and kept when it is set`() throws {
        let base = try #require(URL(string: "http://a.test/b/c?q"))
        let relative = try #require(URL(string: "d?e#f", relativeTo: base))
        let made = [
            Request(url: relative), Request(url: relative, timeoutInterval: 1),
            Request(url: relative, cachePolicy: .returnCacheDataElseLoad),
            Request(url: relative, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 1),
            Request(NSURLRequest(url: relative)),
        ]

        for var request in made {
            #expect(request.url?.relativeString == "http://a.test/b/d?e#f" && request.url?.baseURL == nil)
            request.url = relative
            #expect(request.url?.baseURL == base)
            #expect(try RequestFreezer.freeze(request).headBytes.starts(with: "GET /b/d?e HTTP/1.1".utf8))
        }
        #expect(Request(url: base).url == base)
    }

    @Test func `adding joins with a comma`() throws {
        var request = try Self.request()

        request.addValue("a", forHTTPHeaderField: "X")
        request.addValue("b", forHTTPHeaderField: "x")

        #expect(request.allHTTPHeaderFields == ["X": "a,b"])
    }

    @Test func `only ASCII letters fold`() throws {
        var request = try Self.request()
        request.setValue("1", forHTTPHeaderField: "K")

        #expect(request.value(forHTTPHeaderField: "\u{212A}") == nil)
        #expect(request.value(forHTTPHeaderField: "k") == "1")
    }

    @Test func `setting all fields replaces them`() throws {
        var request = try Self.request()
        request.setValue("1", forHTTPHeaderField: "X")

        request.allHTTPHeaderFields = ["Y": "2", "Z": "3"]

        #expect(request.allHTTPHeaderFields == ["Y": "2", "Z": "3"])
        request.allHTTPHeaderFields = nil
        #expect(request.allHTTPHeaderFields == nil)
    }

    @Test func `requests are equal when they would be sent alike`() throws {
        var one = try Self.request()
        var other = try Self.request()
        one.setValue("1", forHTTPHeaderField: "X")
        one.setValue("2", forHTTPHeaderField: "Y")
        other.setValue("2", forHTTPHeaderField: "Y")
        other.setValue("1", forHTTPHeaderField: "X")

        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
        for change: (inout AFURLTypes.URLRequest) -> Void in [
            { $0.httpMethod = "PUT" }, { $0.httpBody = Data([1]) }, { $0.timeoutInterval = 1 },
            { $0.cachePolicy = .reloadIgnoringCacheData }, { $0.setValue("3", forHTTPHeaderField: "X") },
            { $0.url = URL(string: "http://b.test/") },
        ] {
            var changed = one
            change(&changed)
            #expect(changed != one)
        }
    }

    @Test func `the raw values of cache policies are Apple's`() {
        let policies: [AFURLTypes.URLRequest.CachePolicy] = [
            .useProtocolCachePolicy, .reloadIgnoringLocalCacheData, .returnCacheDataElseLoad,
            .returnCacheDataDontLoad, .reloadIgnoringLocalAndRemoteCacheData, .reloadRevalidatingCacheData,
        ]

        #expect(policies.map(\.rawValue) == [0, 1, 2, 3, 4, 5])
        #expect(AFURLTypes.URLRequest.CachePolicy.reloadIgnoringCacheData == .reloadIgnoringLocalCacheData)
    }

    @Test func `T-REQ-12 no description shows user information, field values or the body`() throws {
        var request = try Self.request("http://me:CANARY@a.test/x?y")
        request.setValue("Bearer CANARY", forHTTPHeaderField: "Authorization")
        request.httpMethod = "POST"
        request.httpBody = Data("CANARY".utf8)
        var dumped = ""
        dump(request, to: &dumped)

        #expect(request.description == "http://a.test/x?y")
        #expect(request.debugDescription == "POST http://a.test/x?y [Authorization]")
        #expect(!dumped.contains("CANARY"))
        #expect(dumped.contains("Authorization: 13 bytes"))
    }

    @Test func `the host is the one that would be connected to`() throws {
        let hosts = try ["http://A.test:81/x", "https://me:secret@b.test/", "mailto:a@b.test", "data:,x"].map {
            URLRequest(url: try #require(URL(string: $0))).host
        }
        #expect(hosts == ["a.test", "b.test", nil, nil])
    }

    @Test func `requests that differ in the main document or the body stream have different hashes`() throws {
        let base = URLRequest(url: try #require(URL(string: "https://example.org/")))
        let documents = (0..<20).map { number in
            var request = base
            request.mainDocumentURL = URL(string: "https://example.org/\(number)")
            return request
        }
        let streams = (0..<20).map { number in
            var request = base
            request.httpBodyStream = InputStream(data: Data("\(number)".utf8))
            return request
        }

        let all = [base] + documents + streams
        #expect(Set(all).count == 41)
        #expect(Set(all.map(\.hashValue)).count == 41)
        #expect(Set(all.map { NSURLRequest($0).hash }).count == 41)
        let copy = streams[3]
        #expect(copy == streams[3] && copy.hashValue == streams[3].hashValue)
    }
}
