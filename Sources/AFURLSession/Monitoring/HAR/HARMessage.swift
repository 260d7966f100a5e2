import FoundationEssentials

/// A message, in the form that browsers have for it.
struct HARMessage: Encodable, Sendable {
    let type: String
    let time: Double
    let opcode: Int
    private(set) var data: String
    var byteCount: Int { data.utf8.count }

    init(_ message: RecordedMessages.Message, clock: WallClock) {
        type = message.isSent ? "send" : "receive"
        time = clock.date(of: message.instant).timeIntervalSince1970
        switch message.content {
        case .text(let text): (opcode, data) = (1, text)
        case .binary(let bytes): (opcode, data) = (2, bytes.base64EncodedString())
        }
    }

    /// The message without secrets, if it is text.
    func masked(_ mask: SecretMask?) -> HARMessage {
        guard let mask, opcode == 1 else { return self }
        var message = self
        message.data = mask.json(data)
        return message
    }
}
