import AFURLSession
import Foundation

func facade(text: String, url: URL) throws {
    _ = text.lowercased()  // expect: lowercased
    _ = text.trimmingCharacters(in: .whitespaces)  // expect: trimming
    _ = Int(text)  // expect: text-number
    _ = Date()  // expect: wall-clock
    _ = url.host  // expect: url-host
    FileHandle.standardError.write(Data())  // expect: file-handle
    _ = text.split(separator: ",")
}
public protocol RequestInterceptor: Sendable {}  // expect: alamofire
open class Interceptor {}  // expect: alamofire
public struct RetryPolicyBook {}
struct RetryPolicy {}
extension HTTPCookie {
    public struct Request {}
}
public let RequestErrorDomain = "a"  // expect: global
public func escaped(_ text: String) -> String { text }  // expect: global
let domain = "a"
extension HTTPCookie {
    public static let domain = "a"
}
