import AFNetworkingTesting
import AFURLSession
import Foundation
import Testing

/// What the page about coming from URLSession says of Foundation's own loads, of archives and of names.
@Suite struct SwappedImportTests {
    private enum Names {
        typealias EventSource = EventStreamReader
        typealias ServerSentEvent = AFURLSession.ServerSentEvent
    }

    @Test func `bytes are loaded before they become text`() async throws {
        let server = try TestServer()
        server.route("GET", "/", .text("hello"))
        let url = server.url("/")

        let (data, _) = try await URLSession.shared.data(from: url)
        let text = String(decoding: data, as: UTF8.self)

        #expect(text == "hello")
    }

    @Test func `a response that FoundationNetworking archived is read`() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.outputFormat = .xml
        archiver.encode(WrittenResponse(), forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let own = NSStringFromClass(WrittenResponse.self)
        let text = String(decoding: archiver.encodedData, as: UTF8.self)
        let archive = Data(text.replacingOccurrences(of: own, with: "NSHTTPURLResponse").utf8)

        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archive)
        unarchiver.setClass(HTTPURLResponse.self, forClassName: "NSHTTPURLResponse")
        let response = unarchiver.decodeObject(of: HTTPURLResponse.self, forKey: NSKeyedArchiveRootObjectKey)

        #expect(response?.statusCode == 204 && response?.url?.host == "a.test")
    }

    @Test func `the names that other packages have, too, can be told apart`() {
        #expect(Names.EventSource.self == EventStreamReader.self)
        #expect(Names.ServerSentEvent.self == ServerSentEvent.self)
    }
}

/// What FoundationNetworking writes for a response.
final class WrittenResponse: NSObject, NSSecureCoding {
    override init() {}
    static var supportsSecureCoding: Bool { true }
    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(NSURL(string: "https://a.test/"), forKey: "NS.url")
        coder.encode(204, forKey: "NS.statusCode")
        coder.encode([:] as NSDictionary, forKey: "NS.allHeaderFields")
    }
}
