package import AFRequest
import AFTestSupport
package import AFURLTypes
package import AFWire
package import Foundation

package let testDefaults = HeaderDefaults(additionalHeaders: [:], userAgent: "test/1")

/// Freezes a request for `text` after `change` has seen it.
package func freeze(
    _ text: String,
    defaults: HeaderDefaults = testDefaults,
    bodyLength: Int? = nil,
    _ change: (inout URLRequest) -> Void = { _ in }
) throws -> WireRequest {
    try freeze(try need(URL(string: text)), defaults: defaults, bodyLength: bodyLength, change)
}

package func freeze(
    _ url: URL,
    defaults: HeaderDefaults = testDefaults,
    bodyLength: Int? = nil,
    _ change: (inout URLRequest) -> Void = { _ in }
) throws -> WireRequest {
    var request = URLRequest(url: url)
    change(&request)
    return try RequestFreezer.freeze(request, defaults: defaults, bodyLength: bodyLength)
}

extension WireRequest {
    /// The head as HTTP/1.1 sends it.
    package var headBytes: [UInt8] {
        var bytes: [UInt8] = []
        HeadWriter.append(head, framing: body.framing, to: &bytes)
        return bytes
    }

    /// The lines of the head; the last is the empty one.
    package var lines: [String] {
        String(decoding: headBytes.dropLast(2), as: UTF8.self)
            .split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The values of all lines called `name`.
    package func values(_ name: String) -> [String] {
        lines.dropFirst().filter { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            .map { String($0.dropFirst(name.count + 2)) }
    }
}
