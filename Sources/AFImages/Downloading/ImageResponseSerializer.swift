import AFBase
public import AFNetworking
public import Foundation

// Unchecked as its superclass; adds locked state.
/// Returns an ``Image`` of a body in PNG, JPEG, WebP, GIF, or a format you registered an ``ImageDecoder`` for.
///
/// Accepts `image/tiff`, `image/jpeg`, `image/gif`, `image/png`, `image/ico`, `image/x-icon`, `image/bmp`,
/// `image/x-bmp`, `image/x-xbitmap` and `image/x-win-bitmap`, as AFNetworking does, and `image/webp`. The first bytes
/// of a picture tell its format. An empty body has no object; what cannot be decoded is an error, with the
/// ``ImageError`` under `HTTPResponseSerializer.decodingErrorKey`.
///
/// Decodes on the calling thread, which for managers is one that processes responses, never the network thread. No more
/// pictures are decoded at once than ``ImageDecodingQueue/shared`` allows.
open class ImageResponseSerializer: HTTPResponseSerializer, @unchecked Sendable {
    private struct State: Codable, Sendable {
        var imageScale = 1.0
        var inflates = true
        var requiresMatchingContentType = false
        var options = ImageDecodingOptions()

        init() {}

        /// What is missing in an archive has the value it has in a new serializer.
        init(from decoder: any Decoder) throws {
            let archive = try decoder.container(keyedBy: CodingKeys.self)
            imageScale = try archive.decodeIfPresent(Double.self, forKey: .imageScale) ?? imageScale
            inflates = try archive.decodeIfPresent(Bool.self, forKey: .inflates) ?? inflates
            requiresMatchingContentType =
                try archive.decodeIfPresent(Bool.self, forKey: .requiresMatchingContentType) ?? false
            options = try archive.decodeIfPresent(ImageDecodingOptions.self, forKey: .options) ?? options
        }
    }

    static let contentTypes: Set<String> = [
        "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
        "image/x-xbitmap", "image/x-win-bitmap", "image/webp",
    ]

    private let state: Lock<State>

    /// A serializer that decodes at the scale 1.
    public required init() {
        state = Lock(State())
        super.init()
        acceptableContentTypes = Self.contentTypes
    }

    /// How many pixels of a picture there are to a point: 1. On a screen with four pixels where others have one it is 2.
    ///
    /// It changes no pixels, only ``Image/size``. With a scale that is not from 0.001 to 1000 every picture is an
    /// error.
    open var imageScale: Double {
        get { state.withLock { $0.imageScale } }
        set { state.withLock { $0.imageScale = newValue } }
    }

    /// Whether pictures are decoded at once, off the network thread and the main thread. They are.
    ///
    /// Otherwise the object is an ``EncodedImage``, of which only the header has been read, and which takes the memory
    /// of the file only. Of an animated picture it has all frames, while an ``Image`` is the first.
    open var automaticallyInflatesResponseImage: Bool {
        get { state.withLock { $0.inflates } }
        set { state.withLock { $0.inflates = newValue } }
    }

    /// Whether a picture in another format than its content type says is an error. It is not: servers get it wrong often.
    open var requiresMatchingContentType: Bool {
        get { state.withLock { $0.requiresMatchingContentType } }
        set { state.withLock { $0.requiresMatchingContentType = newValue } }
    }

    /// The limits for pictures, and the size they are decoded at.
    open var decodingOptions: ImageDecodingOptions {
        get { state.withLock { $0.options } }
        set { state.withLock { $0.options = newValue } }
    }

    /// Returns an ``Image``, or an ``EncodedImage`` if pictures are not to be inflated.
    ///
    /// If only the status is not acceptable, returns the object and an error.
    open override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        serializeContent(of: response, data: data, error: error) { body in
            guard !body.isEmpty else { return nil }
            let state = state.withLock { $0 }
            do throws(ImageError) {
                let file = try EncodedImage(body, scale: state.imageScale, options: state.options)
                if state.requiresMatchingContentType { try Self.check(file, type: response?.mimeType) }
                guard state.inflates else { return file }
                return try ImageDecodingQueue.shared.decodeNow(file)
            } catch {
                throw Self.described(error, response: response, body: body)
            }
        }
    }

    // MARK: - Errors

    private static let formats: [String: ImageFormat] = [
        "image/png": .png, "image/jpeg": .jpeg, "image/gif": .gif, "image/webp": .webp, "image/tiff": .tiff,
        "image/bmp": .bmp, "image/x-bmp": .bmp, "image/x-win-bitmap": .bmp, "image/ico": .ico, "image/x-icon": .ico,
    ]

    private static func check(_ file: EncodedImage, type: String?) throws(ImageError) {
        guard let type, let announced = formats[type], announced != file.header.format else { return }
        throw ImageError(
            .mismatch,
            format: file.header.format,
            text: "A \(file.header.format) picture was sent as \(type)"
        )
    }

    private static func described(_ failure: ImageError, response: URLResponse?, body: Data) -> NSError {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: "Request failed: \(failure.text)",
            HTTPResponseSerializer.decodingErrorKey: failure,
            HTTPResponseSerializer.failingResponseDataErrorKey: body,
        ]
        if let response { userInfo[HTTPResponseSerializer.failingResponseErrorKey] = response }
        return NSError(
            domain: HTTPResponseSerializer.errorDomain,
            code: NSURLErrorCannotDecodeRawData,
            userInfo: userInfo
        )
    }

    // MARK: - Copying and coding

    /// Another serializer of the same class with the same settings.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        let state = state.withLock { $0 }
        (copy as? ImageResponseSerializer)?.state.withLock { $0 = state }
        return copy
    }

    /// Reads an archived serializer.
    public required init?(coder: NSCoder) {
        var state = State()
        do {
            try coder.readJSON(State.self, key: .image) { state = $0 }
        } catch {
            return nil
        }
        self.state = Lock(state)
        super.init(coder: coder)
    }

    /// Archives the settings.
    open override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        var state = state.withLock { $0 }
        // JSON has no infinity and no NaN.
        if !state.imageScale.isFinite { state.imageScale = 0 }
        coder.writeJSON(state, key: .image)
    }
}
