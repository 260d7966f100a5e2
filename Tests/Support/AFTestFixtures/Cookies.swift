package import AFState
package import AFURLTypes
import AFWire
import Foundation

/// What tests of cookies ask: a namespace of tests that conforms has it as its own.
package protocol CookieSamples {}

extension CookieSamples {
    package static var suffixes: PublicSuffixes { Cookies.suffixes }

    package static func list(_ text: String) -> PublicSuffixes {
        PublicSuffixes(text.withUTF8Bytes { PublicSuffixTable($0) })
    }

    package static func question(
        _ url: String,
        in document: String? = nil,
        policy: HTTPCookie.AcceptPolicy = .always
    ) throws -> CookieQuestion {
        CookieQuestion(
            url: try RequestURL(url),
            mainDocument: .init(document.flatMap { URL(string: $0) }),
            policy: CookiePolicy(policy)
        )
    }
}

/// A store with the short list and a clock that stands still.
package struct Cookies: CookieSamples {
    /// A list short enough to know by heart.
    package static let suffixes = list(
        """
        // comment
        com
        org
        uk
        co.uk
        jp
        *.kobe.jp
        !city.kobe.jp
        *.ck
        !www.ck
        github.io
        公司.cn
        """
    )

    package let storage: HTTPCookieStorage
    package var now: Int64 = 1000

    package init(limits: CookieLimits = .standard, suffixes: PublicSuffixes = Cookies.suffixes) {
        storage = HTTPCookieStorage(limits: limits, source: PublicSuffixSource(suffixes), clock: { 1000 })
    }

    /// How many of the lines were refused.
    @discardableResult
    package func receive(
        _ lines: String...,
        from url: String,
        in document: String? = nil,
        policy: HTTPCookie.AcceptPolicy = .always
    ) throws -> Int {
        let question = try Cookies.question(url, in: document, policy: policy)
        return storage.receive(lines.map { Array($0.utf8) }, for: question, now: now)
    }

    package func sent(
        to url: String,
        in document: String? = nil,
        policy: HTTPCookie.AcceptPolicy = .always
    ) throws -> String? {
        storage.cookieField(for: try Cookies.question(url, in: document, policy: policy), now: now)
    }
}
