public import Foundation

/// Why a text is no pin.
public struct PinError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// The text, cut to 100 characters.
    public let text: String

    init(_ text: String) {
        self.text = String(text.prefix(100))
    }

    /// The text, and what a pin looks like.
    public var description: String {
        "\(text.debugDescription) is no pin: write sha256/ and the base64 of the 32 bytes of a SHA-256, with its padding"
    }

    /// The description.
    public var errorDescription: String? { description }
}
