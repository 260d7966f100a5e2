public import Foundation

/// Why a picture could not be decoded, made or encoded.
public struct ImageError: Error, Sendable, Hashable {
    /// Kinds of what can be wrong.
    ///
    /// New ones may come: a `switch` needs a `default`.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        /// The number of the reason, which is the code of the error as an `NSError`.
        public let rawValue: Int

        /// A reason with a number.
        public init(rawValue: Int) {
            self.rawValue = rawValue
        }

        /// There are no bytes.
        public static let empty = Reason(rawValue: 1)
        /// The bytes do not begin as any picture that is known.
        public static let unknownFormat = Reason(rawValue: 2)
        /// The format, or a variant of it, is known but not decoded.
        public static let unsupported = Reason(rawValue: 3)
        /// The picture ends before it is complete.
        public static let truncated = Reason(rawValue: 4)
        /// The picture is damaged.
        public static let malformed = Reason(rawValue: 5)
        /// A limit of ``ImageDecodingOptions`` was passed.
        public static let limit = Reason(rawValue: 6)
        /// There was no memory for the pixels.
        public static let outOfMemory = Reason(rawValue: 7)
        /// A scale is not a number from 0.001 to 1000.
        public static let scale = Reason(rawValue: 8)
        /// Width, height and number of bytes do not belong together.
        public static let dimensions = Reason(rawValue: 9)
        /// The bytes are a picture of another format than was announced.
        public static let mismatch = Reason(rawValue: 10)
        /// The picture could not be encoded.
        public static let encoding = Reason(rawValue: 11)
    }

    /// What kind of thing is wrong.
    public let reason: Reason
    /// The format of the picture, if it is known.
    public let format: ImageFormat?
    /// What happened, in a sentence.
    public let text: String

    /// An error for a decoder of your own to throw.
    public init(_ reason: Reason, format: ImageFormat? = nil, text: String) {
        self.reason = reason
        self.format = format
        self.text = text
    }
}

extension ImageError: CustomStringConvertible, LocalizedError, CustomNSError {
    /// The domain it has as an `NSError`.
    public static let errorDomain = "AFImages.ImageError"

    /// The number of its reason.
    public var errorCode: Int { reason.rawValue }

    /// What happened, in a sentence.
    public var description: String { text }

    /// What happened, in a sentence.
    public var errorDescription: String? { text }

    /// What an `NSError` shows: the sentence.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: text] }
}

extension ImageError {
    static func outOfMemory(_ byteCount: Int) -> ImageError {
        ImageError(.outOfMemory, text: "There is no memory for a picture of \(byteCount) bytes")
    }
}
