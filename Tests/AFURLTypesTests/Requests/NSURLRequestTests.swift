import Foundation
import Testing

@testable import AFURLTypes

@Suite("Requests by reference")
struct NSURLRequestTests {
    private let url = URL(string: "https://a.test/path")!

    @Test func `values and objects become each other`() throws {
        var value = URLRequest(url: url, cachePolicy: .returnCacheDataDontLoad, timeoutInterval: 7)
        value.httpMethod = "PUT"
        value.httpBody = Data("body".utf8)
        value.setValue("1", forHTTPHeaderField: "X-A")

        let object = NSURLRequest(value)

        #expect(URLRequest(object) == value)
        #expect(object.url == url && object.httpMethod == "PUT" && object.timeoutInterval == 7)
        #expect(object.cachePolicy == .returnCacheDataDontLoad && object.httpBody == Data("body".utf8))
        #expect(object.value(forHTTPHeaderField: "x-a") == "1" && object.allHTTPHeaderFields == ["X-A": "1"])
        #expect(object == NSURLRequest(URLRequest(object)))
        #expect(object.description == "https://a.test/path")
    }

    @Test func `as leads from values to objects and back`() throws {
        var value = URLRequest(url: url)
        value.setValue("1", forHTTPHeaderField: "X-A")

        let object = value as NSURLRequest
        let mutable = try #require(object.mutableCopy() as? NSMutableURLRequest)
        mutable.httpMethod = "PUT"
        let changed = mutable as URLRequest
        let absent: URLRequest? = nil

        #expect(object as URLRequest == value && type(of: object) == NSURLRequest.self)
        #expect(changed.httpMethod == "PUT" && changed.value(forHTTPHeaderField: "X-A") == "1")
        #expect((absent as NSURLRequest?) == nil && ([value] as [NSURLRequest]).first == object)
        #expect(([object, mutable] as [URLRequest]) == [value, changed])
    }

    @Test func `casts find values and objects in Any, and nothing in others`() throws {
        let value = URLRequest(url: url)
        let (boxed, object): (Any, Any) = (value, NSMutableURLRequest(url: url))

        #expect(object as? URLRequest == value && object is URLRequest)
        #expect(boxed as? NSURLRequest == value as NSURLRequest)
        #expect(boxed as? NSMutableURLRequest == nil && "text" as Any as? URLRequest == nil)
        #expect((object as! URLRequest) == value && (boxed as! NSURLRequest).url == url)
        #expect(NSArray(array: [value]).contains(value as NSURLRequest))
        #expect(["r": value as NSURLRequest] as NSDictionary as? [String: URLRequest] == ["r": value])
    }

    @Test func `a mutable one changes alone`() throws {
        let first = NSURLRequest(url: url)
        let second = try #require(first.mutableCopy() as? NSMutableURLRequest)
        second.url = URL(string: "https://b.test/")
        second.httpMethod = "POST"
        second.setValue("x", forHTTPHeaderField: "X-A")
        second.addValue("y", forHTTPHeaderField: "X-A")
        second.httpShouldHandleCookies = false
        second.allowsCellularAccess = false
        second.networkServiceType = .voice
        second.mainDocumentURL = url
        second.httpBodyStream = InputStream(data: Data())
        second.timeoutInterval = 3
        second.cachePolicy = .reloadRevalidatingCacheData
        second.httpShouldUsePipelining = true
        let third = try #require(second.copy() as? NSURLRequest)
        second.httpMethod = "GET"

        #expect(first.url == url && first.httpMethod == "GET" && first.allHTTPHeaderFields == nil)
        #expect(third.httpMethod == "POST" && third.value(forHTTPHeaderField: "X-A") == "x,y")
        #expect(!third.httpShouldHandleCookies && !third.allowsCellularAccess && third.httpShouldUsePipelining)
        #expect(third.networkServiceType == .voice && third.mainDocumentURL == url && third.httpBodyStream != nil)
        #expect(third.timeoutInterval == 3 && third.cachePolicy == .reloadRevalidatingCacheData)
        #expect(!(third is NSMutableURLRequest) && first.copy() as? NSURLRequest === first)
    }

    @Test func `an archived request is read back, without its stream`() throws {
        let request = NSMutableURLRequest(url: url, cachePolicy: .returnCacheDataElseLoad, timeoutInterval: 9)
        request.httpMethod = "PATCH"
        request.allHTTPHeaderFields = ["X-A": "1", "X-B": "Ü"]
        request.httpBody = Data([0, 1, 255])
        request.httpShouldHandleCookies = false
        request.networkServiceType = .background

        let data = try NSKeyedArchiver.archivedData(withRootObject: request, requiringSecureCoding: true)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSMutableURLRequest.self, from: data))

        #expect(read == request)
        #expect(read.httpMethod == "PATCH" && read.httpBody == Data([0, 1, 255]))
        #expect(read.allHTTPHeaderFields == ["X-A": "1", "X-B": "Ü"] && !read.httpShouldHandleCookies)
        #expect(read.cachePolicy == .returnCacheDataElseLoad && read.timeoutInterval == 9)
        #expect(read.networkServiceType == .background)
    }
}
