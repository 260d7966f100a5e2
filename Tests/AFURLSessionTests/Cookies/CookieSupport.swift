import AFWire
import Foundation
import Testing

@testable import AFState
@testable import AFURLSession
@testable import AFURLTypes

/// Cookies, from the bytes of a line to the file.
enum CookieRules {
    /// A list short enough to know by heart.
    static let suffixes = list(
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

    static func list(_ text: String) -> PublicSuffixes {
        PublicSuffixes(text.withUTF8Bytes { PublicSuffixTable($0) })
    }

    static func question(
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

    /// What a server at `url` gets stored with one line, or why it does not.
    static func admit(
        _ line: String,
        from url: String,
        in document: String? = nil,
        now: Int64 = 1000,
        by suffixes: PublicSuffixes = CookieRules.suffixes
    ) throws -> CookieContent {
        try CookieAdmission.admit(
            SetCookieParser.parse(Array(line.utf8)),
            from: question(url, in: document),
            now: now,
            suffixes: suffixes
        )
    }

    static func refusal(of line: String, from url: String, in document: String? = nil) throws -> CookieRefusal? {
        do {
            _ = try admit(line, from: url, in: document)
            return nil
        } catch let refusal as CookieRefusal {
            return refusal
        }
    }
}

/// A store with the short list and a clock that stands still.
struct Cookies {
    let storage: HTTPCookieStorage
    var now: Int64 = 1000

    init(limits: CookieLimits = .standard, suffixes: PublicSuffixes = CookieRules.suffixes) {
        storage = HTTPCookieStorage(limits: limits, source: PublicSuffixSource(suffixes), clock: { 1000 })
    }

    /// How many of the lines were refused.
    @discardableResult
    func receive(
        _ lines: String...,
        from url: String,
        in document: String? = nil,
        policy: HTTPCookie.AcceptPolicy = .always
    ) throws -> Int {
        let question = try CookieRules.question(url, in: document, policy: policy)
        return storage.receive(lines.map { Array($0.utf8) }, for: question, now: now)
    }

    func sent(
        to url: String,
        in document: String? = nil,
        policy: HTTPCookie.AcceptPolicy = .always
    ) throws -> String? {
        storage.cookieField(for: try CookieRules.question(url, in: document, policy: policy), now: now)
    }
}

/// The same numbers for the same seed.
struct CookieDice: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        var mixed = state
        mixed ^= mixed >> 33
        mixed = mixed &* 0xFF51_AFD7_ED55_8CCD
        return mixed ^ (mixed >> 33)
    }

    mutating func pick<Element>(_ all: [Element]) -> Element { all[Int.random(in: all.indices, using: &self)] }
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
