import AFURLSession
import AFWire
import Foundation
import Testing

let testDefaults = HeaderDefaults(additionalHeaders: [:], userAgent: "test/1")

/// Freezes a request for `text` after `change` has seen it.
func freeze(
    _ text: String,
    defaults: HeaderDefaults = testDefaults,
    bodyLength: Int? = nil,
    _ change: (inout AFURLSession.URLRequest) -> Void = { _ in }
) throws -> WireRequest {
    try freeze(try #require(URL(string: text)), defaults: defaults, bodyLength: bodyLength, change)
}

func freeze(
    _ url: URL,
    defaults: HeaderDefaults = testDefaults,
    bodyLength: Int? = nil,
    _ change: (inout AFURLSession.URLRequest) -> Void = { _ in }
) throws -> WireRequest {
    var request = AFURLSession.URLRequest(url: url)
    change(&request)
    return try RequestFreezer.freeze(request, defaults: defaults, bodyLength: bodyLength)
}

extension WireRequest {
    /// The head as HTTP/1.1 sends it.
    var headBytes: [UInt8] {
        var bytes: [UInt8] = []
        HeadWriter.append(head, body.framing, to: &bytes)
        return bytes
    }

    /// The lines of the head; the last is the empty one.
    var lines: [String] {
        String(decoding: headBytes.dropLast(2), as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The values of all lines called `name`.
    func values(_ name: String) -> [String] {
        lines.dropFirst().filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            .map { String($0.dropFirst(name.count + 2)) }
    }
}

/// Random numbers that are the same in every run.
struct FixedSeed: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
