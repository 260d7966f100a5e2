import AFTLS
import Foundation
import Glibc

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes
@testable import AFWire

extension FuzzTarget {
    /// Where to go.
    static let addresses = [
        url, reference, dataURL, proxyURL, proxyExceptions, suffixList, suffixGraph, peerName, literal,
    ]

    private static let url = FuzzTarget(
        "url",
        "https://www.example.com:8443/a/b?c=d#e",
        "http://[2001:db8::1%25eth0]/",
        "http://127.0.0.1:80/%41",
        "http://xn--bcher-kva.example/",
        "http://test.83/",
        "https://a.test.:8443/x"
    ) { input in
        guard let url = input.span.withUnsafeBytes({ try? RequestURL($0) }) else { return }
        let again = try RequestURL(url.text)
        try expect(again.endpoint == url.endpoint && again.target == url.target, "\(url.text) is not itself")
        try expect(!url.target.contains { $0 <= 0x20 || $0 == 0x7F || $0 >= 0x80 }, "the target would break the head")
        try expect(!url.endpoint.hostField.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "the host would break the head")
        // Another parser that reads the text, as it came or as we write it, goes to the same host. A text that
        // Foundation does not understand is left out.
        for text in [input.text, url.text] {
            guard let host = URL(string: text, encodingInvalidCharacters: false)?.host else { continue }
            let bare = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]")).lowercased()
            // An address of IPv6 has many spellings.
            if text != url.text, bare.contains(":") { continue }
            try expect(
                bare == url.endpoint.host.text || bare == "\(url.endpoint.host.text)." || bare.contains("%"),
                "\(bare) is not \(url.endpoint.host.text)"
            )
        }
    }

    private static let reference = FuzzTarget(
        "location",
        "../a/./b?c#d",
        "//other.test:81/x",
        "http:g",
        "https://user:pw@a.test/"
    ) { input in
        let base = try RequestURL("http://a.test/b/c/d;p?q")
        let found = input.span.withUnsafeBytes { try? URLReference($0, relativeTo: base) }
        guard let found else { return }
        try expect(try RequestURL(found.url.text).endpoint == found.url.endpoint, "\(found.text) is not itself")
        let segments = found.url.target.prefix { $0 != UInt8(ascii: "?") }.split(separator: UInt8(ascii: "/"))
        try expect(!segments.contains { Array($0) == Array("..".utf8) }, "\(found.text) leads upwards")
        let authority = found.text.components(separatedBy: "://").dropFirst().joined().prefix { $0 != "/" }
        try expect(!authority.contains("@"), "\(found.text) has a password")
    }

    private static let dataURL = FuzzTarget(
        "data-url",
        "data:text/plain;charset=utf-8,hi%20there",
        "data:;base64,aGk="
    ) { input in
        let limit = 1024
        guard input.count >= 5, let url = input.span.withUnsafeBytes({ try? DataURL($0, limit: limit) }) else { return }
        try expect(url.body.count <= limit, "it has \(url.body.count) bytes")
    }

    private static let proxyURL = FuzzTarget(
        "proxy-url",
        "socks5h://user:pa%20ss@proxy.test:1080",
        "[::1]:3128",
        "http://proxy.test"
    ) { input in
        _ = try? ProxyServer(input.text)
    }

    private static let proxyExceptions = FuzzTarget(
        "proxy-exceptions",
        "localhost, .example.com:8080 10.0.0.0/8,[::1],*.a.test,2001:db8::/32",
        "*"
    ) { input in
        let exceptions = ProxyExceptions(noProxy: input.text)
        for host in ["www.example.com", "10.1.2.3", "[2001:db8::1]"] {
            _ = exceptions.contains(try Endpoint(scheme: .http, host: host))
        }
    }

    private static let suffixList = FuzzTarget(
        "suffix-list",
        "// comment\ncom\n*.ck\n!www.ck\nco.uk\n",
        "jp\n*.kawasaki.jp\n!city.kawasaki.jp\n"
    ) { input in
        let suffixes = PublicSuffixes(input.span.withUnsafeBytes { PublicSuffixTable($0) })
        for name in ["www.a.co.uk", "a.b.ck", "com", "city.kawasaki.jp"] { _ = suffixes.registrableDomain(of: name) }
    }

    private static let suffixGraph = FuzzTarget(
        "suffix-graph",
        seeds: [Array(".DAFSA@PSL_0   \n".utf8) + [0x81, 0x63, 0x6F, 0xED, 0x80, 0x01]]
    ) { input in
        guard let graph = PublicSuffixGraph(input) else { return }
        let suffixes = PublicSuffixes(graph)
        for name in ["www.a.co.uk", "com", "a.b.c.d.e.f"] { _ = suffixes.registrableDomain(of: name) }
    }

    private static let peerName = FuzzTarget("peer-name", "Example.com.", "[::1]", "xn--bcher-kva.test", "127.1") {
        input in
        guard let name = PeerName(input.text) else { return }
        try expect(PeerName(name.description) == name, "\(name) is not itself")
    }

    /// The system reads addresses as we do.
    private static let literal = FuzzTarget(
        "ip-address",
        "127.0.0.1",
        "2001:db8::1",
        "::ffff:1.2.3.4",
        "1:2:3:4:5:6:7::",
        "01.2.3.4",
        "1.2.3.256"
    ) { input in
        guard !input.contains(0) else { return }
        var four = in_addr()
        let isFour = inet_pton(AF_INET, input.text, &four) == 1
        let quad = input.span.withUnsafeBytes { IPAddressSyntax.isDottedQuad($0) }
        try expect(quad == isFour, "\(input.text) is an address of IPv4 for \(isFour ? "the system" : "us") alone")
        var six = in6_addr()
        let isSix = inet_pton(AF_INET6, input.text, &six) == 1
        let groups = input.span.withUnsafeBytes { IPAddressSyntax.ipv6($0) }
        // `::` for no group at all is known to the system alone.
        guard let groups else {
            let mayBe = isSix && input.text.components(separatedBy: ":").count > 8
            return try expect(!isSix || mayBe, "\(input.text) is an address of IPv6 for the system alone")
        }
        try expect(isSix, "\(input.text) is an address of IPv6 for us alone")
        let bytes = withUnsafeBytes(of: six) { Array($0) }
        try expect(
            groups.groups.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] } == bytes,
            "\(input.text) is another address"
        )
        let again = Array(groups.text.utf8).span.withUnsafeBytes { IPAddressSyntax.ipv6($0) }
        try expect(again == groups, "\(groups.text) is not \(input.text)")
    }
}
