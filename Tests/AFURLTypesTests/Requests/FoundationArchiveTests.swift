import Foundation
import Testing

@testable import AFURLTypes

/// Archives values under keys of one's own.
final class Foreign: NSObject, NSSecureCoding {
    private let write: (NSCoder) -> Void

    init(_ write: @escaping (NSCoder) -> Void) { self.write = write }

    static var supportsSecureCoding: Bool { true }
    init?(coder: NSCoder) { nil }
    func encode(with coder: NSCoder) { write(coder) }
}

/// Archives that other loaders have written.
@Suite struct FoundationArchiveTests {
    private func read<Value: NSObject & NSSecureCoding>(
        _ type: Value.Type,
        _ write: @escaping (NSCoder) -> Void
    ) throws -> Value? {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(Foreign(write), forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.setClass(type, forClassName: NSStringFromClass(Foreign.self))
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        let value = unarchiver.decodeObject(of: type, forKey: NSKeyedArchiveRootObjectKey)
        // An archive is read, or refused with an error.
        #expect((value == nil) == (unarchiver.error != nil))
        return value
    }

    @Test func `responses and credentials of FoundationNetworking are read`() throws {
        func url(_ coder: NSCoder) { coder.encode(NSURL(string: "https://a.test/x"), forKey: "NS.url") }
        let plain = try #require(
            read(URLResponse.self) { coder in
                url(coder)
                coder.encode("text/plain" as NSString, forKey: "NS.mimeType")
                coder.encode(Int64(7), forKey: "NS.expectedContentLength")
                coder.encode("utf-8" as NSString, forKey: "NS.textEncodingName")
            }
        )
        let http = try #require(
            read(HTTPURLResponse.self) { coder in
                url(coder)
                coder.encode(404, forKey: "NS.statusCode")
                coder.encode(["Content-Type": "text/html"] as NSDictionary, forKey: "NS.allHeaderFields")
            }
        )
        let credential = try #require(
            read(URLCredential.self) { coder in
                coder.encode("anna" as NSString, forKey: "NS._user")
                coder.encode("secret" as NSString, forKey: "NS._password")
                coder.encode(NSNumber(value: 1), forKey: "NS._persistence")
            }
        )

        #expect(plain.url?.absoluteString == "https://a.test/x" && plain.mimeType == "text/plain")
        #expect(plain.expectedContentLength == 7 && plain.textEncodingName == "utf-8")
        #expect(http.url?.absoluteString == "https://a.test/x" && http.statusCode == 404)
        #expect(http.mimeType == "text/html" && http.httpVersion == "HTTP/1.1")
        #expect(credential.user == "anna" && credential.password == "secret" && credential.persistence == .forSession)
    }

    @Test func `archives of another form are refused, and never become an empty value`() throws {
        func unknown(_ coder: NSCoder) { coder.encode("https://a.test/" as NSString, forKey: "NSURLResponse.URL") }

        #expect(try read(URLResponse.self, unknown) == nil)
        #expect(try read(HTTPURLResponse.self, unknown) == nil)
        #expect(try read(URLCredential.self, unknown) == nil)
        #expect(try read(NSURLRequest.self, unknown) == nil)
        // A status without fields, and a field that no response can have.
        #expect(try read(HTTPURLResponse.self) { $0.encode(200, forKey: "NS.statusCode") } == nil)
        let forged = try read(HTTPURLResponse.self) { coder in
            coder.encode(200, forKey: "NS.statusCode")
            coder.encode(["A": "b\r\nC: d"] as NSDictionary, forKey: "NS.allHeaderFields")
        }
        #expect(forged == nil)
    }

    @Test func `what was archived here is read as before`() throws {
        let url = try #require(URL(string: "https://a.test/x"))
        let plain = URLResponse(url: url, mimeType: nil, expectedContentLength: -1, textEncodingName: nil)
        let http = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.0", headerFields: ["A": "b"])
        )
        for response in [plain, http] {
            let data = try NSKeyedArchiver.archivedData(withRootObject: response, requiringSecureCoding: true)
            let read = try NSKeyedUnarchiver.unarchivedObject(
                ofClasses: [URLResponse.self, HTTPURLResponse.self],
                from: data
            )
            #expect(read as? URLResponse == response)
        }
    }
}
