import Testing

@testable import AFState

/// Cookies, from the bytes of a line to the file.
enum CookieRules: CookieSamples {
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

extension CookieRules {
    /// What kills the process or measures it. Each test runs in a process of its own, one at a time.
    @Suite(.serialized) struct Alone {}
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
