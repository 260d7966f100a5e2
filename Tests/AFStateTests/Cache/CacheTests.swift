import AFTLS
import AFWire
import Foundation

@testable import AFState

/// The cache: its rules and its store.
enum CacheTests: CacheSamples {
    /// `./dev kills` asks for every call.
    static let killsAll = ProcessInfo.processInfo.environment["AFNET_KILLS"] == "all"

    static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    static func at(_ seconds: Int64) -> CacheInstant {
        CacheInstant(wall: start + seconds, monotonic: 5000 + seconds)
    }

    static func date(_ seconds: Int64) -> String { HTTPDate.text(start + seconds) }

    static func plan(
        _ fields: [(String, String)],
        _ question: [String: String] = [:],
        policy: CacheUse = .useProtocolCachePolicy,
        after seconds: Int64,
        method: String = "GET",
        url: String = "http://a.test/page"
    ) throws -> String {
        let request = try request(url, question, method: method)
        let stored = head(fields, for: request)
        return switch CacheRules.plan(request, policy: policy, stored: stored, now: at(seconds)) {
        case .network: "network"
        case .serve: "serve"
        case .validate: "validate"
        case .serveAndValidate: "serve, validate"
        case .fail: "fail"
        }
    }

    static func digest(_ bytes: [UInt8]) -> [UInt8] { SHA256Digest.of(bytes) }
}
