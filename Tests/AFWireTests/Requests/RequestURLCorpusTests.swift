import AFWire
import Foundation
import Testing

struct RequestURLCorpusTests {
    @Test(arguments: URLCorpus.accepted)
    func `T-REQ-07 T-REQ-09 T-REQ-10 T-REQ-13 an accepted URL splits as written`(entry: URLCorpus.Entry) throws {
        let url = try RequestURL(entry.url)

        let target = String(decoding: url.target, as: UTF8.self)
        let endpoint = url.endpoint
        #expect("\(endpoint.scheme) \(endpoint.host.connectName) \(endpoint.port) \(target)" == entry.verdict)
    }

    @Test(arguments: URLCorpus.refused)
    func `T-REQ-05 T-REQ-06 T-REQ-07 T-REQ-11 T-REQ-26 a refused URL names part and rule`(entry: URLCorpus.Entry) {
        let error = #expect(throws: RequestRejection.self) { try RequestURL(entry.url) }

        #expect(error.map { "\($0.component) \($0.rule)" } == entry.verdict)
        #expect((0...entry.url.utf8.count).contains(error?.position ?? 0))
    }

    @Test func `T-REQ-07 a refused URL says at which byte`() {
        let long = "http://h/" + String(repeating: "x", count: RequestURL.maximumLength)
        let table: [(String, RequestRejection)] = [
            ("", RequestRejection(.url, rule: .empty)), (long, RequestRejection(.url, rule: .tooLong)),
            ("h?token", RequestRejection(.scheme, rule: .missing, at: 0, excerpt: EscapedText("h"))),
            ("//a:secret@h/", RequestRejection(.scheme, rule: .missing, at: 0)),
            ("http:/", RequestRejection(.scheme, rule: .noAuthority, at: 5)),
            ("http://a%1fb@h/", RequestRejection(.userInfo, rule: .encodedSeparator, at: 8)),
            ("http://a%4@h/", RequestRejection(.userInfo, rule: .forbiddenByte, at: 8)),
            ("http://h/\u{1F}", RequestRejection(.target, rule: .control, at: 9)),
        ]
        for (url, expected) in table {
            #expect(throws: expected) { try RequestURL(url) }
        }
        let error = #expect(throws: RequestRejection.self) { try RequestURL("ftp://h/") }
        #expect(error?.rule == .notHTTP && error?.position == 0)
    }

    @Test func `T-REQ-27 a URL has at most 65,536 bytes`() throws {
        let room = RequestURL.maximumLength - "http://h/".utf8.count

        #expect(RequestURL.maximumLength == 65_536)
        #expect(try RequestURL("http://h/" + String(repeating: "x", count: room)).target.count == room + 1)
        #expect(throws: RequestRejection(.url, rule: .tooLong)) {
            try RequestURL("http://h/" + String(repeating: "x", count: room + 1))
        }
    }

    @Test func `T-REQ-07 the corpus is as large as promised and holds no entry twice`() {
        let urls = (URLCorpus.accepted + URLCorpus.refused).map { Array($0.url.utf8) }

        #expect(urls.count >= 300)
        #expect(Set(urls).count == urls.count)
    }

    @Test(arguments: URLCorpus.accepted)
    func `T-REQ-07 T-REQ-08 a second parser sees the same scheme, host and port`(entry: URLCorpus.Entry) throws {
        // What it cannot parse it cannot contradict.
        guard let second = SecondParser(entry.url) else { return }
        let endpoint = try RequestURL(entry.url).endpoint

        #expect(second == SecondParser(endpoint))
    }

    @Test func `T-REQ-07 the second parser has an opinion on most of the corpus`() {
        #expect(URLCorpus.accepted.count { SecondParser($0.url) != nil } > URLCorpus.accepted.count * 9 / 10)
    }
}

/// What Foundation makes of a URL, brought to our spelling. Only the encoded host is used; decoding it is the trap.
struct SecondParser: Equatable {
    let scheme: String
    let host: String
    let port: Int

    init?(_ text: String) {
        guard let components = URLComponents(string: text), let scheme = components.scheme?.lowercased(),
            var host = components.encodedHost
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        host = host.replacing("%25", with: "%")
        let zone = host.firstIndex(of: "%").map { String(host[$0...]) } ?? ""
        host = host.dropLast(zone.count).lowercased()
        let address = host.withUTF8Bytes { IPAddressSyntax.ipv6($0) }
        self.scheme = scheme
        self.host = (address?.text ?? host) + zone
        port = components.port ?? (scheme == "https" ? 443 : 80)
    }

    init(_ endpoint: Endpoint) {
        scheme = endpoint.scheme.text
        host = endpoint.host.connectName
        port = Int(endpoint.port)
    }
}
