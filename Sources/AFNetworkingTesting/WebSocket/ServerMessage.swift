/// A message of WebSocket, whole and decompressed.
@nonexhaustive
public enum ServerMessage: Sendable, Hashable {
    /// A text.
    case text(String)
    /// Bytes.
    case binary([UInt8])

    var opcode: ServerFrame.Opcode {
        switch self {
        case .text: .text
        case .binary: .binary
        }
    }

    var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .binary(let bytes): bytes
        }
    }
}
