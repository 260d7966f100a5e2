private func queryString(from parameters: Any) -> String { HTTPRequestSerializer.queryString(from: parameters) }

@Suite("Queries from parameters")
struct QueryStringTests {
    private enum Kind: String { case one, other }

    @Test("13.2.14 fields are joined with &, and & within them is escaped")
    func catalogue() {
        #expect(queryString(from: ["key": "value", "key1": "value&"]) == "key=value&key1=value%26")
        #expect(HTTPRequestSerializer.queryString(from: ["key": "value"]) == "key=value")
    }

    @Test("14 requests: nested structures and repeated keys, T-REQ-23")
    func nested() {
        #expect(queryString(from: ["a": ["b": ["c": 1]]]) == "a%5Bb%5D%5Bc%5D=1")
        #expect(queryString(from: ["k": ["x", "y"]]) == "k%5B%5D=x&k%5B%5D=y")
        #expect(
            queryString(from: ["k": [["a": 1, "b": 2], ["a": 3]]])
                == "k%5B%5D%5Ba%5D=1&k%5B%5D%5Bb%5D=2&k%5B%5D%5Ba%5D=3"
        )
        #expect(queryString(from: ["k": [["x"], []]] as [String: [[String]]]) == "k%5B%5D%5B%5D=x")
    }

    @Test("14 requests: sets are sorted and repeat the key")
    func sets() {
        #expect(queryString(from: ["k": Set(["b", "a", "C"])]) == "k=C&k=a&k=b")
        #expect(queryString(from: ["k": Set([10, 9, 1])]) == "k=1&k=10&k=9")
        #expect(queryString(from: ["k": NSSet(array: ["b", "a"])]) == "k=a&k=b")
        #expect(queryString(from: ["k": Set<AnyHashable>([2, "1", true])]) == "k=1&k=1&k=2")
    }

    @Test("14 requests: null is the key alone, empty text is not")
    func nulls() {
        #expect(queryString(from: ["k": NSNull()]) == "k")
        #expect(queryString(from: ["k": Optional<Int>.none as Any]) == "k")
        #expect(queryString(from: ["k": Optional<Int>.none]) == "k")
        #expect(queryString(from: ["k": Optional<Int?>.some(.some(3)) as Any]) == "k=3")
        #expect(queryString(from: ["k": Optional<Int?>.some(.none) as Any]) == "k")
        #expect(queryString(from: ["k": [NSNull(), nil, 1] as [Any?]]) == "k%5B%5D&k%5B%5D&k%5B%5D=1")
        #expect(queryString(from: ["k": ""]) == "k=")
    }

    @Test("empty collections are nothing")
    func empty() {
        #expect(queryString(from: [:] as [String: Any]) == "")
        #expect(
            queryString(from: ["a": [Any](), "b": [String: Any](), "c": Set<Int>(), "d": 1] as [String: Any]) == "d=1"
        )
        #expect(queryString(from: ["a": NSArray(), "b": NSDictionary(), "c": NSSet()] as [String: Any]) == "")
    }

    @Test("14 requests: keys are sorted by their units, capitals first")
    func order() {
        #expect(queryString(from: ["b": 1, "a": 2, "B": 3, "ab": 4, "é": 5]) == "B=3&a=2&ab=4&b=1&%C3%A9=5")
        // Beyond the basic plane, units of UTF-16 stand before the end of that plane.
        #expect(queryString(from: ["\u{FF5E}": 1, "😀": 2]) == "%F0%9F%98%80=2&%EF%BD%9E=1")
        // They look equal, but are two keys.
        #expect(ParameterOrder.isStable)
    }

    private enum ParameterOrder {
        static var isStable: Bool {
            let parameters = Dictionary(uniqueKeysWithValues: (0..<100).map { ("k\($0)", $0) })
            let queries = Set((0..<10).map { _ in queryString(from: parameters.shuffledCopy()) })
            return queries.count == 1
        }
    }

    @Test("true is 1 and false is 0, of Swift's type and of Foundation's")
    func truths() {
        #expect(queryString(from: ["a": true, "b": false]) == "a=1&b=0")
        #expect(queryString(from: ["a": NSNumber(value: true), "b": NSNumber(value: false)]) == "a=1&b=0")
    }

    @Test(
        "numbers are as short as can be",
        arguments: [
            (1 as any Sendable, "1"), (-7, "-7"), (1.0, "1"), (1.5, "1.5"), (0.1, "0.1"), (-0.25, "-0.25"),
            (Float(0.1), "0.1"), (Float(2), "2"), (CGFloat(3), "3"), (1e100, "1e%2B100"),
            (UInt64.max, "18446744073709551615"),
            (Int8(-128), "-128"), (Decimal(string: "1.10") ?? 0, "1.1"), (100_000.0, "100000"),
        ]
    )
    func numbers(number: any Sendable, text: String) {
        #expect(queryString(from: ["k": number]) == "k=\(text)")
    }

    @Test("numbers of Foundation look like those of Swift")
    func foundationNumbers() {
        let numbers: [(NSNumber, String)] = [
            (NSNumber(value: 1), "1"), (NSNumber(value: 0), "0"), (NSNumber(value: Int8(1)), "1"),
            (NSNumber(value: 1.0), "1"), (NSNumber(value: 0.1), "0.1"), (NSNumber(value: Float(0.1)), "0.1"),
            (NSNumber(value: UInt64.max), "18446744073709551615"), (NSNumber(value: Int64.min), "-9223372036854775808"),
            (NSDecimalNumber(string: "12.50"), "12.5"),
        ]

        for (number, text) in numbers { #expect(queryString(from: ["k": number]) == "k=\(text)") }
    }

    @Test("other values are their descriptions")
    func descriptions() throws {
        let uuid = UUID()
        let url = try #require(URL(string: "http://a.test/?q"))
        let date = Date(timeIntervalSince1970: 0)

        #expect(queryString(from: ["k": uuid]) == "k=\(uuid.uuidString)")
        #expect(queryString(from: ["k": url]) == "k=http%3A//a.test/?q")
        #expect(queryString(from: ["k": URL(string: "b", relativeTo: url) as Any]) == "k=http%3A//a.test/b")
        #expect(
            queryString(from: ["k": date]) == "k=\(HTTPRequestSerializer.percentEscapedString(from: date.description))"
        )
        #expect(queryString(from: ["k": Kind.other]) == "k=other")
        #expect(queryString(from: ["k": "ab".dropFirst()]) == "k=b")
        #expect(queryString(from: ["k": Character("x")]) == "k=x")
    }

    @Test("collections of Foundation are as those of Swift")
    func foundation() {
        let parameters = NSDictionary(dictionary: [
            "a": NSArray(array: [NSNumber(value: 1), NSString(string: "x y")]),
            "b": NSDictionary(dictionary: ["c": NSNull()]),
        ])

        #expect(queryString(from: parameters) == "a%5B%5D=1&a%5B%5D=x%20y&b%5Bc%5D")
        #expect(queryString(from: [1, 2][...]) == "%5B%5D=1&%5B%5D=2")
        #expect(queryString(from: ["k": ContiguousArray([1])]) == "k%5B%5D=1")
    }

    @Test("keys need not be text")
    func keys() {
        #expect(queryString(from: [1: "a", 2: "b"]) == "1=a&2=b")
        #expect(queryString(from: ["k": [true: 1] as [AnyHashable: Any]]) == "k%5B1%5D=1")
        #expect(queryString(from: NSDictionary(dictionary: [NSNumber(value: 7): "x"])) == "7=x")
    }

    @Test("16 8.2 parameters that are no dictionary have fields without a name")
    func bare() {
        #expect(queryString(from: "a b") == "=a%20b")
        #expect(queryString(from: ["x", "y"]) == "%5B%5D=x&%5B%5D=y")
        #expect(queryString(from: Set(["y", "x"])) == "=x&=y")
        #expect(queryString(from: 5) == "=5")
        #expect(queryString(from: NSNull()) == "")
        #expect(queryString(from: Optional<String>.none as Any) == "")
    }

    @Test("T-REQ-24 what is nested too deep is left out, or an error")
    func depth() {
        var deep: Any = "x"
        for _ in 0..<2000 { deep = [deep] }
        var allowed: Any = "x"
        for _ in 0..<500 { allowed = [allowed] }

        #expect(queryString(from: ["deep": deep, "flat": 1]) == "flat=1")
        #expect(queryString(from: ["k": allowed]).hasSuffix("=x"))
        let error = HTTPRequestSerializer().failure(["k": deep])
        #expect(error?.domain == HTTPRequestSerializer.errorDomain && error?.code == -1016)
    }

    @Test("T-REQ-23 random parameters come back when the query is read by the rules", arguments: 0..<200)
    func random(seed: UInt64) throws {
        var dice = SplitMix(seed: seed)
        let tree = RandomParameters.dictionary(&dice, depth: 3)

        let query = queryString(from: tree.parameters)

        #expect(try RandomParameters.read(query) == tree.pruned)
    }
}

extension Dictionary {
    /// The same, built in another order.
    fileprivate func shuffledCopy() -> [Key: Value] {
        Dictionary(uniqueKeysWithValues: map { ($0.key, $0.value) }.shuffled())
    }
}
