import Foundation
import Testing

@testable import AFURLTypes

struct RequestTermsTests {
    private typealias URLRequest = AFURLTypes.URLRequest

    /// Each says one more thing.
    static let requests: [AFURLTypes.URLRequest] = {
        var policy = RedirectPolicy()
        policy.followsRedirects = false
        policy.maximumCount = -1
        policy.sensitiveFields = ["X-Team", "X-Key"]
        let changes: [(inout AFURLTypes.URLRequest) -> Void] = [
            { _ in },
            { $0.cachePolicy = .reloadIgnoringLocalCacheData },
            { $0.timeoutInterval = 12.5 },
            { $0.timeoutInterval = .infinity },
            { $0.queueTimeout = 3 },
            { $0.httpShouldUsePipelining = true },
            { $0.httpShouldUsePipelining = false },
            { $0.networkServiceType = .voip },
            { $0.maximumBytesSentPerSecond = 1000 },
            { $0.allowsCellularAccess = false },
            { $0.httpShouldHandleCookies = false },
            { $0.addsStoredCookies = true },
            { $0.mainDocumentURL = URL(string: "http://b.test/ä") },
            { $0.withheldHeaderFields = ["Accept", "X-Session-Token"] },
            { $0.usesHTTP10 = true },
            { $0.redirectPolicy = policy },
            { $0.timeoutIntervalForResource = 90 },
            { $0.decodesContent = false },
            { $0.sendsBodyWithAnyMethod = true },
            { $0.change { $0.interception.value.skipsSession = true } },
            { $0.setValue("2", forHTTPHeaderField: "Z") },
            { $0.setValue("1", forHTTPHeaderField: "A") },
        ]
        var request = AFURLTypes.URLRequest(url: URL(fileURLWithPath: "/file"))
        return changes.map { change in
            change(&request)
            return request
        }
    }()

    @Test(arguments: requests)
    func `the settings of a request come back`(request: AFURLTypes.URLRequest) throws {
        var again = URLRequest(url: try #require(request.url))
        again.allHTTPHeaderFields = request.allHTTPHeaderFields

        try #require(RequestTerms(RequestTerms(of: request).encoded)).apply(to: &again)

        #expect(again == request)
        #expect(again.contents.explicitTimeout == request.contents.explicitTimeout)
        #expect(again.contents.explicitCachePolicy == request.contents.explicitCachePolicy)
        #expect(again.contents.explicitPipelining == request.contents.explicitPipelining)
    }

    @Test func `each thing counts, so that none can be forgotten unseen`() {
        let terms = Self.requests.dropLast(2).map(RequestTerms.init(of:))

        #expect(Set(terms).count == terms.count)
    }

    @Test(arguments: requests)
    func `an archived request withholds what it withheld`(request: AFURLTypes.URLRequest) throws {
        let archive = try NSKeyedArchiver.archivedData(
            withRootObject: NSURLRequest(request),
            requiringSecureCoding: true
        )

        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSURLRequest.self, from: archive)

        #expect(URLRequest(try #require(read)) == request)
    }

    @Test func `terms that cannot be read, or that no request can have, are refused`() throws {
        let good = try #require(String(data: RequestTerms(of: Self.requests[8]).encoded, encoding: .utf8))
        func changed(_ part: String, _ other: String) throws -> Data {
            try #require(good.contains(part), "\(part) is not in \(good)")
            return Data(good.replacing(part, with: other).utf8)
        }

        #expect(RequestTerms(Data(good.utf8)) != nil)
        #expect(RequestTerms(try changed("\"serviceType\":1", "\"serviceType\":5")) == nil)
        #expect(RequestTerms(try changed("\"cachePolicy\":1", "\"cachePolicy\":99")) == nil)
        #expect(RequestTerms(try changed("\"handlesCookies\":true,", "")) == nil)
        #expect(RequestTerms(try changed("\"withheldFields\":[]", "\"withheldFields\":null")) == nil)
        #expect(RequestTerms(Data()) == nil)
    }
}
