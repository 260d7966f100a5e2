import Foundation
import Testing

@testable import AFURLTypes

struct ResponseIdentityTests {
    private typealias Response = AFURLTypes.HTTPURLResponse

    private static func http(_ fields: [String: String] = ["X": "1"], status: Int = 200) throws -> Response {
        let url = try #require(URL(string: "http://a.test/x"))
        return try #require(Response(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    private static func plain(_ type: String? = "text/html") throws -> AFURLTypes.URLResponse {
        AFURLTypes.URLResponse(
            url: try #require(URL(string: "http://a.test/x")),
            mimeType: type,
            expectedContentLength: 7,
            textEncodingName: "utf-8"
        )
    }

    @Test func `responses that say the same are equal`() throws {
        #expect(try Self.http() == Self.http())
        #expect(try Self.http().hash == Self.http().hash)
        #expect(try Self.http() != Self.http(status: 201))
        #expect(try Self.http() != Self.http(["X": "2"]))
        #expect(try Self.plain() == Self.plain())
        #expect(try Self.plain() != Self.plain("text/plain"))
        #expect(try Self.plain() != Self.http())
        #expect(try Self.plain().isEqual(nil) == false)
    }

    @Test func `a copy is the response itself`() throws {
        let response = try Self.http()

        #expect(response.copy() as? Response === response)
    }

    @Test func `an archived HTTP response comes back with all its fields`() throws {
        let response = try Self.http(["Content-Type": "text/html; charset=x", "X": "ü"])

        let archive = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: Response.self, from: archive)

        #expect(copy == response)
        #expect(copy?.textEncodingName == "x")
    }

    @Test func `an archived response comes back`() throws {
        let response = try Self.plain()

        let archive = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: AFURLTypes.URLResponse.self, from: archive)

        #expect(copy == response)
        #expect(copy?.expectedContentLength == 7)
    }

    @Test(arguments: [nil, "text/html"], [nil, "utf-8"])
    func `an archived response comes back with what it does not say`(type: String?, encoding: String?) throws {
        let response = AFURLTypes.URLResponse(
            url: try #require(URL(string: "http://a.test/x")),
            mimeType: type,
            expectedContentLength: -1,
            textEncodingName: encoding
        )

        let archive = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let copy = try NSKeyedUnarchiver.unarchivedObject(ofClass: AFURLTypes.URLResponse.self, from: archive)

        #expect(copy == response)
        #expect(copy?.mimeType == type && copy?.textEncodingName == encoding && copy?.expectedContentLength == -1)
    }

    @Test func `an archive with a forged field is refused`() throws {
        let response = try Self.http(["X": "AAAABBBB"])
        var archive = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
        let value = try #require(archive.range(of: Data("AAAABBBB".utf8)))
        archive.replaceSubrange(value, with: Data("AA\u{0}ABBBB".utf8))

        let copy = try? NSKeyedUnarchiver.unarchivedObject(ofClass: Response.self, from: archive)

        #expect(copy == nil)
    }

    @Test func `T-REQ-12 a description has no user information`() throws {
        let url = try #require(URL(string: "http://me:CANARY@a.test/x"))
        let response = try #require(Response(url: url, statusCode: 204, httpVersion: nil, headerFields: nil))

        #expect(response.description == "<HTTPURLResponse 204 http://a.test/x>")
        #expect(!response.debugDescription.contains("CANARY"))
    }
}
