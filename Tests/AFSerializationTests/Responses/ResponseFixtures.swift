import Dispatch

/// A response to a GET of http://example.com/thing.
func makeResponse(
    _ status: Int = 200,
    type: String? = nil,
    url: String = "http://example.com/thing"
) throws -> HTTPURLResponse {
    let fields = type.map { ["Content-Type": $0] }
    let url = try #require(URL(string: url))
    let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
    return try #require(response)
}

/// A response without a URL, as archives may hold.
final class ResponseWithoutURL: HTTPURLResponse, @unchecked Sendable {
    override var url: URL? { nil }
}

/// The object that a serializer made of a response, and the error as an NSError.
func serialized(
    _ serializer: some URLResponseSerialization,
    _ response: URLResponse?,
    _ body: String?
) -> (object: Any?, error: NSError?) {
    let (object, error) = serializer.serialize(response, data: body.map { Data($0.utf8) })
    return (object, error as NSError?)
}

extension NSError {
    /// The underlying error.
    var beneath: NSError? { userInfo[NSUnderlyingErrorKey] as? NSError }

    /// Whether it is one of our own, with this code.
    func isOurs(_ code: Int) -> Bool { domain == "com.alamofire.error.serialization.response" && self.code == code }
}

/// Archives and reads again, the way users do it.
func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object? {
    let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
    return try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data)
}

/// Runs something on a thread with the stack of a dispatch worker at its smallest, 512 KiB.
func onSmallStack(_ body: @escaping @Sendable () -> String) -> String {
    final class Answer: @unchecked Sendable {
        var text = ""
    }
    let answer = Answer()
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
        answer.text = body()
        done.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    done.wait()
    return answer.text
}
