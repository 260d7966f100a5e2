import AFWire

/// Makes structured fields of all shapes that can be written.
struct AnyStructuredField {
    var random: SeededGenerator

    mutating func item() -> StructuredItem { StructuredItem(value(), parameters: parameters()) }

    mutating func list() -> [StructuredMember] { (0..<count()).map { _ in member() } }

    mutating func dictionary() -> StructuredDictionary {
        var members: StructuredDictionary = [:]
        for _ in 0..<count() { members[name()] = member() }
        return members
    }

    private mutating func member() -> StructuredMember {
        Bool.random(using: &random)
            ? .item(item()) : .innerList((0..<count()).map { _ in item() }, parameters: parameters())
    }

    private mutating func parameters() -> StructuredParameters {
        var parameters: StructuredParameters = [:]
        for _ in 0..<count() { parameters[name()] = value() }
        return parameters
    }

    private mutating func value() -> StructuredValue {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .integer(number())
        case 1: .decimal(Double(number()) / 1000)
        case 2: .string(text(of: (0x20...0x7E).map { Unicode.Scalar($0) }))
        case 3: .token("t" + text(of: Array("azAZ09!#$%&'*+-.^_`|~:/".unicodeScalars)))
        case 4: .bytes((0..<count()).map { _ in UInt8.random(in: 0...255, using: &random) })
        case 5: .boolean(.random(using: &random))
        case 6: .date(number())
        default: .displayString(text(of: Array("a %\"\\\0\n\u{7F}\u{80}ü€\u{10FFFF}".unicodeScalars)))
        }
    }

    private mutating func number() -> Int {
        let limit = [9, 99_999, 999_999_999_999_999].randomElement(using: &random) ?? 9
        return Int.random(in: -limit...limit, using: &random)
    }

    private mutating func name() -> String { "n" + text(of: Array("az09_-.*".unicodeScalars)) }

    private mutating func text(of scalars: [Unicode.Scalar]) -> String {
        var text = ""
        for _ in 0..<count() { text.unicodeScalars.append(scalars.randomElement(using: &random) ?? "a") }
        return text
    }

    private mutating func count() -> Int { Int.random(in: 0...4, using: &random) }
}
