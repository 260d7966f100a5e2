struct SourceRuleTests {
    /// `URL.host` is percent-decoded text (F-06), and a second parser is a second opinion about who the peer is.
    private static let forbidden = [
        "url.host", "URL.host", "url?.host", "URL?.host", "url!.host", ".host(percentEncoded", "URLComponents(",
        "NSURLComponents",
    ]

    @Test func `T-REQ-08 no code of ours asks Foundation for a host`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        // The test server builds URLs, the command line only shows one, lint gives advice before any request, and
        // errors show URLs without their secrets: none of them decides who the peer is.
        let paths = try FileManager.default.subpathsOfDirectory(atPath: root.path).filter {
            $0.hasSuffix(".swift") && !$0.hasPrefix("AFNetworkingTesting/") && !$0.hasPrefix("afnet/")
                && ![
                    "AFSerialization/Security/SecurityPolicy+Lint.swift", "AFSerialization/Foundations/Errors.swift",
                ].contains(
                    $0
                )
        }

        for path in paths {
            let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
            for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                // Not a host of Foundation's, but a function of ours.
                let code = line.prefix { $0 != "/" || !line.contains("//") }.replacing("ProxyURL.hostAndPort", with: "")
                #expect(!Self.forbidden.contains { code.contains($0) }, "\(path):\(number + 1): \(line)")
            }
        }
        #expect(paths.count > 20)
    }
}
