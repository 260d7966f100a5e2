import AFBase
public import Foundation

// Unchecked: the state is locked, which the compiler cannot check in an open class. A subclass must make safe what it
// adds.
/// Checks status and content type of HTTP responses, and returns the body as it is: a `Data`.
///
/// The serializers of JSON, property lists, XML and types of your own are subclasses, and set their own content types:
///
/// | serializer | object | content types |
/// |---|---|---|
/// | ``HTTPResponseSerializer`` | `Data` | any |
/// | ``JSONResponseSerializer`` | dictionary, array, … | `application/json`, `text/json`, `text/javascript` |
/// | ``PropertyListResponseSerializer`` | dictionary, array, … | `application/x-plist` |
/// | ``DecodingResponseSerializer`` | a `Decodable` value | those of its decoder |
/// | ``CompoundResponseSerializer`` | that of the first member that has one | any |
///
/// A serializer may be used, and changed, from any thread.
///
/// ## Writing one of your own
///
/// Override ``responseObject(for:data:error:)``, and begin with ``validate(_:data:error:)``. A response with an
/// unacceptable content type and a body has no object; one with an unacceptable status has an object *and* an error.
///
/// Implement `required init()`, which copying calls, and copy what you add in `copy(with:)`:
///
/// ```swift
/// override func copy(with zone: NSZone? = nil) -> Any {
///     let copy = super.copy(with: zone)
///     (copy as? MySerializer)?.key = key
///     return copy
/// }
/// ```
open class HTTPResponseSerializer: NSObject, URLResponseSerialization, @unchecked Sendable {
    /// The status codes that a new serializer accepts.
    package static let usualStatusCodes = IndexSet(integersIn: 200..<300)

    private struct State: Sendable {
        static let usual = State(acceptableStatusCodes: usualStatusCodes)

        var acceptableStatusCodes: IndexSet?
        var acceptableContentTypes: Set<String>?
    }

    private let state: Lock<State>

    /// A serializer that accepts the status codes from 200 to 299 and any content type.
    public required override init() {
        state = Lock(State.usual)
        super.init()
    }

    /// A serializer with these settings.
    package convenience init(acceptableStatusCodes: IndexSet?, acceptableContentTypes: Set<String>?) {
        self.init()
        state.withLock {
            $0 = State(acceptableStatusCodes: acceptableStatusCodes, acceptableContentTypes: acceptableContentTypes)
        }
    }

    /// A new serializer with the settings of `init()`.
    open class func serializer() -> Self { Self() }

    /// The status codes that are no error: 200 to 299. With nil the status is not looked at.
    open var acceptableStatusCodes: IndexSet? {
        get { state.withLock { $0.acceptableStatusCodes } }
        set { state.withLock { $0.acceptableStatusCodes = newValue } }
    }

    /// The media types that are no error, in lower case and without parameters. With nil, as it is here, the content
    /// type is not looked at.
    open var acceptableContentTypes: Set<String>? {
        get { state.withLock { $0.acceptableContentTypes } }
        set { state.withLock { $0.acceptableContentTypes = newValue } }
    }

    /// Returns the body as it is, even if the response is not valid, and puts the error of ``validate(_:data:error:)``
    /// at the pointer.
    open func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        _ = validate(response as? HTTPURLResponse, data: data, error: error)
        return data
    }

    /// Whether status and content type of a response are acceptable.
    ///
    /// A wrong content type of an empty body makes a response invalid *without* an error: there is nothing that could
    /// be misread. No response, or none of HTTP, is valid.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - data: Its body; a missing content type is forgiven if it is empty.
    ///   - error: Receives an error of ``HTTPResponseSerializer/errorDomain`` with the response and the body: -1016
    ///     for the content type, -1011 for the status, the former beneath the latter if both are wrong.
    open func validate(_ response: HTTPURLResponse?, data: Data?, error: NSErrorPointer) -> Bool {
        guard let response else { return true }
        let (accepted, problem) = ResponseValidation(response: response, data: data).result(
            contentTypes: acceptableContentTypes,
            statusCodes: acceptableStatusCodes
        )
        if let problem { error?.pointee = problem }
        return accepted
    }

    /// Whether it takes less time than a change of threads, and runs none of the program's code: it is of one of this
    /// library's own classes, and has little to decode.
    ///
    /// - Parameter isAwaited: Whether it runs in the Swift task that awaits the value.
    package func isQuick(bodyLength: Int, isAwaited: Bool) -> Bool { type(of: self) == HTTPResponseSerializer.self }

    /// The most bytes to decode without a change of threads.
    static let quickLength = 1024

    // MARK: - Copying and coding

    /// Another serializer of the same class with the same settings.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = type(of: self).init()
        copy.acceptableStatusCodes = acceptableStatusCodes
        copy.acceptableContentTypes = acceptableContentTypes
        return copy
    }

    /// Serializers can be archived securely.
    open class var supportsSecureCoding: Bool { true }

    /// Reads an archived serializer; nil if the archive holds what no serializer wrote.
    ///
    /// What is missing in the archive has the value it has in a new serializer.
    public required init?(coder: NSCoder) {
        var state = State.usual
        do {
            try coder.readJSON(ArchivedStatusCodes?.self, key: .acceptableStatusCodes) { codes in
                state.acceptableStatusCodes = codes?.indexes
            }
            try coder.readJSON(Set<String>?.self, key: .acceptableContentTypes) { state.acceptableContentTypes = $0 }
        } catch {
            return nil
        }
        self.state = Lock(state)
        super.init()
    }

    /// Archives the acceptable codes and types.
    open func encode(with coder: NSCoder) {
        coder.writeJSON(acceptableStatusCodes.map(ArchivedStatusCodes.init), key: .acceptableStatusCodes)
        coder.writeJSON(acceptableContentTypes.map { $0.sorted() }, key: .acceptableContentTypes)
    }
}

extension HTTPResponseSerializer {
    /// The error about the status or the content type of a response; nil if there is none.
    ///
    /// For a response whose body is not to be read, as that of a download, pass nil or no bytes.
    public func validationError(for response: URLResponse?, data: Data?) -> (any Error)? {
        collectingError { validate(response as? HTTPURLResponse, data: data, error: $0) }.error
    }

    /// Checks status and content type of a response.
    ///
    /// - Returns: Whether they are acceptable. False stands for a wrong content type of an empty body.
    /// - Throws: What is wrong.
    @discardableResult
    public func validate(_ response: HTTPURLResponse?, data: Data?) throws -> Bool {
        let (accepted, error) = collectingError { validate(response, data: data, error: $0) }
        if let error { throw error }
        return accepted
    }

    /// Validates a response and decodes its body, as all serializers of content do: a body with an unacceptable content
    /// type is not decoded, and an unacceptable status is an error beside the object.
    ///
    /// - Parameters:
    ///   - response: The response, which is validated.
    ///   - data: Its body.
    ///   - error: Receives the error; without it a response that is not valid has no object.
    ///   - decode: Makes the object; its error goes before that of the status, which is then beneath it, and says where the
    ///     response comes from and how its body begins.
    public func serializeContent(
        of response: URLResponse?,
        data: Data?,
        error: NSErrorPointer,
        decode: (Data) throws -> Any?
    ) -> Any? {
        let (accepted, problem) = collectingError { validate(response as? HTTPURLResponse, data: data, error: $0) }
        return object(in: data, of: response, isValid: accepted, problem: problem, error: error, decode: decode)
    }

    /// The same of a response that was validated.
    package func object(
        in data: Data?,
        of response: URLResponse?,
        isValid: Bool,
        problem: NSError?,
        error: NSErrorPointer,
        decode: (Data) throws -> Any?
    ) -> Any? {
        if let problem { error?.pointee = problem }
        if !isValid && (error == nil || problem.map(Self.isAboutContentType) == true) { return nil }
        do {
            return try decode(data ?? Data())
        } catch let failure {
            let told = (failure as NSError).naming(response, body: data)
            error?.pointee = NSError.composing(told, underlying: problem)
            return nil
        }
    }

    private static func isAboutContentType(_ error: NSError) -> Bool {
        error.hasOrCovers(code: NSURLErrorCannotDecodeContentData, domain: HTTPResponseSerializer.errorDomain)
    }
}

extension HTTPResponseSerializer {
    /// The domain of errors of response serializers. The codes are those of `NSURLErrorDomain`.
    public static let errorDomain = ResponseValidation.errorDomain

    /// The key of the ``/AFURLTypes/URLResponse`` that was refused, in the user info of an error of ``errorDomain``.
    public static let failingResponseErrorKey = ResponseValidation.responseKey

    /// The key of the refused response's body, a `Data`, in the user info of an error of ``errorDomain``.
    public static let failingResponseDataErrorKey = ResponseValidation.dataKey

    /// The key of what a decoder threw, in the user info of an error of a serializer that decodes, such as
    /// ``DecodingResponseSerializer``.
    public static let decodingErrorKey = "com.alamofire.serialization.response.error.decoding"
}
