/// A set of ASCII bytes in two machine words. A byte above 0x7F is never a member.
///
/// Every grammar below works on bytes and on sets like these: `Character` hides CR LF inside one element and
/// Unicode folding makes `\u{212A}` a `k`, so neither may decide what goes on the wire.
package struct ASCIISet: Sendable {
    private let low: UInt64
    private let high: UInt64

    private init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    init(_ members: StaticString) {
        var low: UInt64 = 0
        var high: UInt64 = 0
        for byte in UnsafeBufferPointer(start: members.utf8Start, count: members.utf8CodeUnitCount) {
            if byte < 64 { low |= 1 &<< UInt64(byte) } else if byte < 128 { high |= 1 &<< UInt64(byte & 63) }
        }
        self.init(low: low, high: high)
    }

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        let word = byte < 64 ? low : high
        return byte < 128 && (word &>> UInt64(byte & 63)) & 1 == 1
    }

    func union(_ other: ASCIISet) -> ASCIISet { ASCIISet(low: low | other.low, high: high | other.high) }
}

extension ASCIISet {
    static let letters = ASCIISet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    static let digits = ASCIISet("0123456789")
    static let letterDigits = letters.union(digits)

    /// RFC 3986 §2.3.
    package static let unreserved = letterDigits.union(ASCIISet("-._~"))
    /// RFC 3986 §2.2.
    static let subDelimiters = ASCIISet("!$&'()*+,;=")
    /// What may stand in a request target in origin form besides `%` (RFC 9112 §3.2.1, RFC 3986 §3.3 and §3.4).
    package static let target = unreserved.union(subDelimiters).union(ASCIISet(":@/?"))
    /// RFC 3986 §3.2.1, without `%`.
    static let userInfo = unreserved.union(subDelimiters).union(ASCIISet(":"))
    /// RFC 9110 §5.6.2: methods, field names, parameter names.
    package static let token = letterDigits.union(ASCIISet("!#$%&'*+-.^_`|~"))
    /// RFC 9110 §11.2: the `token68` of a challenge, before its trailing `=`.
    static let token68 = letterDigits.union(ASCIISet("-._~+/"))
    /// RFC 8187 §3.2.1: what an extended parameter value may hold unencoded.
    package static let attribute = letterDigits.union(ASCIISet("!#$&+-.^_`|~"))
    /// A registered name as we accept it: what DNS and real intranets use, and nothing else.
    static let hostName = letterDigits.union(ASCIISet("-._"))
    /// RFC 9651 §3.1.2: the name of a parameter or of a member, and how it begins.
    static let structuredNameStart = ASCIISet("abcdefghijklmnopqrstuvwxyz*")
    static let structuredName = structuredNameStart.union(digits).union(ASCIISet("_-."))
    /// RFC 9651 §3.3.4.
    static let structuredTokenStart = letters.union(ASCIISet("*"))
    static let structuredToken = token.union(ASCIISet(":/"))
}
