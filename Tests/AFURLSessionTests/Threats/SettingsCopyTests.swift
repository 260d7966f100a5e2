import AFTLS

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

@Suite("Copies of configurations")
struct SettingsCopyTests {
    /// One change of each setting there is.
    private static let changes: [String: @Sendable (URLSessionConfiguration) -> Void] = [
        "timeoutIntervalForRequest": { $0.timeoutIntervalForRequest = 1 },
        "timeoutIntervalForResource": { $0.timeoutIntervalForResource = 2 },
        "cachePolicy": { $0.requestCachePolicy = .reloadIgnoringLocalCacheData },
        "additionalHeaders": { $0.httpAdditionalHeaders = ["A": "b"] },
        "maximumBodyInMemory": { $0.maximumBodyInMemory = 7 },
        "expectsContinueAbove": { $0[\.expectsContinueAbove] = 8 },
        "unixDomainSocketPath": { $0.unixDomainSocketPath = "/a" },
        "callsBackOnNetworkThread": { $0.callsBackOnNetworkThread = true },
        "allowsEveryResponse": { $0[\.allowsEveryResponse] = true },
        "usesPipelining": { $0[\.usesPipelining] = true },
        "tls": { $0.tls.anchors = .certificates([]) },
        "redirects": { $0.redirectPolicy.maximumCount = 10 },
        "transportSecurity": { $0[\.transportSecurity] = HSTSStore() },
        "temporaryFolder": { $0.temporaryFolder = URL(fileURLWithPath: "/b") },
        "credentials": { $0[\.credentials.maximumRounds] = 11 },
        "cookies": { $0[\.cookies.setsCookies] = false },
        "cache": { $0.urlCache = nil },
        "proxies": { $0.usesProxyEnvironment = false },
        "content": { $0[\.content.maximumRatio] = 12 },
        "pool": { $0[\.pool.maximumConnections] = 13 },
        "link": { $0.networkServiceType = .video },
        "waitsForConnectivity": { $0.waitsForConnectivity = true },
        "protocols": { $0[\.protocols.classes] = [URLProtocol.self] },
        "monitoring": { $0[\.monitoring.keepsMetrics].toggle() },
        "interception": { $0[\.interception.kept.interceptors] = [RetryRules()] },
        "background": { $0[\.background.isDiscretionary] = true },
        "networks": { $0.multipathServiceType = .handover },
    ]

    private func text(_ label: String, of configuration: URLSessionConfiguration) -> String {
        var text = ""
        let child = Mirror(reflecting: configuration.settings).children.first { $0.label == label }
        dump(child?.value, to: &text, maxDepth: 4)
        return text
    }

    @Test func `T-API-28 a copy has every setting there is, and none that is changed later`() {
        let labels = Mirror(reflecting: SessionSettings()).children.compactMap(\.label)
        #expect(Set(labels) == Set(Self.changes.keys))
        for (label, change) in Self.changes {
            let original = URLSessionConfiguration.default
            let before = (original.copied(), text(label, of: original))
            change(original)
            let after = original.copied()
            let ofSession = URLSession(configuration: original).configuration

            #expect(text(label, of: original) != before.1, "\(label) was not changed")
            #expect(text(label, of: before.0) == before.1, "\(label)")
            #expect(text(label, of: after) == text(label, of: original), "\(label)")
            #expect(text(label, of: ofSession) == text(label, of: original), "\(label)")
        }
    }
}
