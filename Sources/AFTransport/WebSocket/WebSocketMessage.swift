import AFWire
package import Foundation

/// A message of either side.
package enum WebSocketMessage: Sendable {
    case text(String)
    case binary(Data)

    package var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let data): data.count
        }
    }

    package var isText: Bool { if case .text = self { true } else { false } }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch self {
        case .text(let text): text.withUTF8Bytes(body)
        case .binary(let data): data.withUnsafeBytes(body)
        }
    }
}
