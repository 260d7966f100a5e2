/// The domain of errors of request serializers. The codes are those of `NSURLErrorDomain`.
public let URLRequestSerializationErrorDomain = "com.alamofire.error.serialization.request"

/// The domain of errors of response serializers. The codes are those of `NSURLErrorDomain`.
public let URLResponseSerializationErrorDomain = "com.alamofire.error.serialization.response"

/// The key of the request that could not be made, in the user info of an error of
/// ``URLRequestSerializationErrorDomain``.
public let NetworkingOperationFailingURLRequestErrorKey = "com.alamofire.serialization.request.error.response"

/// The key of the ``/AFURLSession/URLResponse`` that was refused, in the user info of an error of
/// ``URLResponseSerializationErrorDomain``.
public let NetworkingOperationFailingURLResponseErrorKey = "com.alamofire.serialization.response.error.response"

/// The key of the refused response's body, a `Data`, in the user info of an error of
/// ``URLResponseSerializationErrorDomain``.
public let NetworkingOperationFailingURLResponseDataErrorKey = "com.alamofire.serialization.response.error.data"

/// The key of what a decoder threw, in the user info of an error of ``DecodingResponseSerializer``.
public let NetworkingOperationFailingDecodingErrorKey = "com.alamofire.serialization.response.error.decoding"
