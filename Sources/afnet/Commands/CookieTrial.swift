import AFURLSession
import Foundation
import Glibc

/// One line of `afnet cookies`: what is stored in a jar, and which cookies it is asked for.
struct CookieTrial: Decodable {
    private struct Step: Decodable {
        enum Operation: String, Decodable { case set, get }

        let op: Operation
        let url: String
        let lines: [String]?
        /// In seconds since 1970.
        let now: Double
    }

    struct Answer: Encodable {
        let id: String
        let cookies: [String]
    }

    private let id: String
    private let steps: [Step]

    /// The answer of an empty jar.
    var answer: Answer {
        let jar = HTTPCookieStorage()
        var cookies: [String] = []
        for step in steps {
            let url = URL(string: step.url, encodingInvalidCharacters: false)
            let now = Date(timeIntervalSince1970: step.now)
            switch step.op {
            case .set:
                if let url { jar.storeCookies(fromFields: step.lines ?? [], of: url, at: now) }
            case .get: cookies.append(url.flatMap { jar.cookieField(for: $0, at: now) } ?? "")
            }
        }
        return Answer(id: id, cookies: cookies)
    }
}
