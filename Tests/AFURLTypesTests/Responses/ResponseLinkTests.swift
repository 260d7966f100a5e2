import AFURLTypes
import Foundation
import Testing

struct ResponseLinkTests {
    private static func response(
        _ link: String,
        url: String = "https://a.test/list/one?page=1#top"
    ) throws -> AFURLTypes.HTTPURLResponse {
        let url = try #require(URL(string: url))
        let response = AFURLTypes.HTTPURLResponse(
            url: url,
            statusCode: 200,
            httpVersion: nil,
            headerFields: ["Link": link]
        )
        return try #require(response)
    }

    @Test(
        arguments: [
            ("two", "https://a.test/list/two"), ("/two", "https://a.test/two"),
            ("?page=2", "https://a.test/list/one?page=2"),
            ("../two#x", "https://a.test/two#x"), ("//b.test/two", "https://b.test/two"),
            ("HTTP://B.test/", "http://b.test/"),
            ("", "https://a.test/list/one?page=1"), (" two ", "https://a.test/list/two"),
            ("mailto:a@b.test", "mailto:a@b.test"),
            ("urn:isbn:1", "urn:isbn:1"), ("https://user:password@b.test/x", "https://b.test/x"),
        ]
    )
    func `a target is resolved against the URL of the response`(target: String, url: String) throws {
        #expect(try Self.response("<\(target)>; rel=next").links.map(\.url.absoluteString) == [url])
    }

    @Test(arguments: ["https://", "https://a b/", "http://[::1", "https://a.test:99999/", "http:a"])
    func `T-ANS-04 a link whose target is no URL is left out`(target: String) throws {
        let response = try? Self.response("<\(target)>; rel=next, </two>; rel=next")

        #expect(response?.links.map(\.url.path) ?? ["/two"] == ["/two"])
    }

    @Test func `a link has a title and other attributes`() throws {
        let link = try Self.response("</two>; rel=\"next last\"; title=\"Two\"; type=\"text/html\"").links.first

        #expect(link?.relations == ["next", "last"])
        #expect(link?.title == "Two" && link?.attributes["type"] == "text/html")
        #expect(link?.anchor == nil)
    }

    @Test func `T-ANS-04 a link of another resource is not one of this`() throws {
        let own = "</own>; rel=NEXT; anchor=\"?page=1\""
        let others =
            "</a>; rel=next; anchor=\"/other\", </b>; rel=next; anchor=\"#part\", </c>; rel=next; anchor=\"http://\""
        let response = try Self.response("\(others), \(own)")

        #expect(
            response.links.map(\.anchor?.absoluteString) == [
                "https://a.test/other", "https://a.test/list/one?page=1#part", nil,
            ]
        )
        #expect(response.link("next")?.path == "/own")
        #expect(response.link("Next")?.path == "/own")
        #expect(response.link("prev") == nil)
        #expect(try Self.response(others).link("next") == nil)
    }

    @Test func `there are none without the field, and none of a file`() throws {
        #expect(try Self.response("").links.isEmpty)
        #expect(try Self.response("</a>", url: "file:///list").links.isEmpty)
    }
}
