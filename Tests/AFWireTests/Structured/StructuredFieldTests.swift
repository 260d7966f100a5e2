import AFBase
import AFFaults
import AFWire
import Testing

/// Fields by the grammar of RFC 9651 §3, and what its algorithms in §4 make of them.
struct StructuredFieldTests {
    // MARK: - Items

    /// What a field is read as, and how it is written: as it was, unless a third part says how.
    private static let values: [(text: String, value: StructuredValue, canonical: String?)] = [
        ("0", .integer(0), nil), ("-0", .integer(0), "0"), ("42", .integer(42), nil), ("-42", .integer(-42), nil),
        ("00042", .integer(42), "42"), ("  7  ", .integer(7), "7"),
        ("999999999999999", .integer(999_999_999_999_999), nil),
        ("-999999999999999", .integer(-999_999_999_999_999), nil),
        ("1.0", .decimal(1), nil), ("-1.5", .decimal(-1.5), nil), ("0.125", .decimal(0.125), nil),
        ("0.120", .decimal(0.12), "0.12"), ("0.001", .decimal(0.001), nil), ("-0.0", .decimal(0), "0.0"),
        ("999999999999.999", .decimal(999_999_999_999.999), nil), ("0001.50", .decimal(1.5), "1.5"),
        ("\"\"", .string(""), nil), ("\"a b\"", .string("a b"), nil), ("\"a\\\"b\\\\c\"", .string("a\"b\\c"), nil),
        ("a", .token("a"), nil), ("*", .token("*"), nil), ("text/html", .token("text/html"), nil),
        ("a:b!#$%&'*+-.^_`|~9", .token("a:b!#$%&'*+-.^_`|~9"), nil), ("A", .token("A"), nil),
        ("::", .bytes([]), nil), (":aGVsbG8=:", .bytes(Array("hello".utf8)), nil),
        (":aGVsbG8:", .bytes(Array("hello".utf8)), ":aGVsbG8=:"), (":/+Ah:", .bytes([0xFF, 0xE0, 0x21]), nil),
        (":iZ==:", .bytes([0x89]), ":iQ==:"), ("?1", .boolean(true), nil), ("?0", .boolean(false), nil),
        ("@1659578233", .date(1_659_578_233), nil), ("@-1", .date(-1), nil), ("@0", .date(0), nil),
        ("%\"\"", .displayString(""), nil), ("%\"a 1\\\"", .displayString("a 1\\"), nil),
        ("%\"f%c3%bc%c3%bc %25 %22\"", .displayString("füü % \""), nil), ("%\"%41\"", .displayString("A"), "%\"A\""),
        ("%\"%00%0a\"", .displayString("\0\n"), nil),
    ]

    @Test(arguments: values.indices)
    func `an item has the value of its type, and is written in the one canonical form`(index: Int) throws {
        let (text, value, canonical) = Self.values[index]

        let item = StructuredItem(parsing: text)

        #expect(item == StructuredItem(value))
        #expect(try item?.serialized() == canonical ?? text)
    }

    @Test(arguments: [
        "", " ", "\t1", "1\t", "1 2", "1,2", "1;", "--1", "-", "+1", "- 1", "1.", ".1", "1.1234", "1234567890123.0",
        "1000000000000000", "1e3", "0x1", "1_0", "-a", "\"", "\"a", "\"\\a\"", "\"\\", "\"a\tb\"", "\"a\nb\"",
        "\"\u{7F}\"", "\"ü\"", "'a'", "a b", "a\"b\"", "a,", "ü", "!a", "/a", ":", ":aGVsbG8=", ":aGVsbG8 =:", ":_-:",
        ":a:", ":=:", ":aGVs=bG8:", "?", "?2", "?10", "?true", "? 1", "@", "@1.0", "@a", "@1000000000000000", "@@1",
        "%\"", "%\"a", "%a", "%\"%\"", "%\"%4\"", "%\"%C3%BC\"", "%\"%c3\"", "%\"%zz\"", "%\"ü\"", "%\"a\tb\"", "%",
        "(1)", "(", "{1}", "1;A=1", "1;a=", "1;a==", "1;=1", "1 ;a", "1;a=b c", "1;a;", "1;a=()", "1;\ta", "\u{0}1",
    ])
    func `T-ANS-01 a field that breaks a rule is none, whatever of it could be read`(text: String) {
        #expect(StructuredItem(parsing: text) == nil)
    }

    // MARK: - Parameters

    @Test func `parameters keep their order, and the last of one name counts`() throws {
        let item = try #require(StructuredItem(parsing: "a;  b=1;c;*d-._9=\"x\";b=?0"))

        #expect(item.parameters.names == ["b", "c", "*d-._9"])
        #expect(item.parameters["b"] == .boolean(false))
        #expect(item.parameters["c"] == .boolean(true))
        #expect(try item.serialized() == "a;b=?0;c;*d-._9=\"x\"")
    }

    // MARK: - Lists and dictionaries

    private static let one = StructuredMember.value(.integer(1))
    private static let two = StructuredMember.value(.integer(2))

    private static let lists: [(text: String, members: [StructuredMember], canonical: String?)] = [
        ("", [], nil), ("  ", [], nil), ("1", [one], "1"), ("1, 2", [one, two], "1, 2"),
        ("1,2", [one, two], "1, 2"), ("1 \t,\t 2 ", [one, two], "1, 2"), ("1 , 2\t", [one, two], "1, 2"),
        ("()", [.innerList([], parameters: [:])], "()"), ("( )", [.innerList([], parameters: [:])], "()"),
        (
            "( 1;a  \"b\" );c=d, 2",
            [
                .innerList(
                    [StructuredItem(.integer(1), parameters: ["a": .boolean(true)]), StructuredItem(.string("b"))],
                    parameters: ["c": .token("d")]
                ), two,
            ],
            "(1;a \"b\");c=d, 2"
        ),
    ]

    @Test(arguments: lists.indices)
    func `a list has items and inner lists`(index: Int) throws {
        let (text, members, canonical) = Self.lists[index]

        #expect([StructuredMember](parsing: text) == members)
        #expect(try members.serialized() == canonical)
    }

    @Test(arguments: [
        ",", "1,", "1, ", ",1", "1,,2", "1;,2", "1 2", "(", "(1", "(1,2)", "(1 2", "(1\t2)", "(1)2", "((1))", "()()",
        ")", "(1\"b\")", "(1 );", "1, \"", "1\n,2", "1;a=(2)",
    ])
    func `T-ANS-01 a list with one bad member has none`(text: String) {
        #expect([StructuredMember](parsing: text) == nil)
    }

    private static let dictionaries: [(text: String, members: StructuredDictionary, canonical: String?)] = [
        ("", [:], nil), ("a=1", ["a": one], "a=1"), ("a=1 , b=2", ["a": one, "b": two], "a=1, b=2"),
        ("u=3, i", ["u": .value(.integer(3)), "i": .value(.boolean(true))], "u=3, i"),
        ("i=?1", ["i": .value(.boolean(true))], "i"), ("i=?0", ["i": .value(.boolean(false))], "i=?0"),
        (
            "i;q=1", ["i": .item(StructuredItem(.boolean(true), parameters: ["q": .integer(1)]))], "i;q=1"
        ),
        ("a=2, b=2, a=1", ["a": one, "b": two], "a=1, b=2"),
        (
            "a=(1);b, *c=1",
            [
                "a": .innerList([StructuredItem(.integer(1))], parameters: ["b": .boolean(true)]), "*c": one,
            ], "a=(1);b, *c=1"
        ),
    ]

    @Test(arguments: dictionaries.indices)
    func `a dictionary has members by name`(index: Int) throws {
        let (text, members, canonical) = Self.dictionaries[index]

        #expect(StructuredDictionary(parsing: text) == members)
        #expect(try members.serialized() == canonical)
    }

    @Test(arguments: [
        "a=", "a=1,", "a = 1", "a= 1", "A=1", "1=a", "=1", "a=1 b=2", "a=1,,b=2", "ä=1", "a=1;B", "a,b c",
    ])
    func `T-ANS-01 a dictionary with one bad member has none`(text: String) {
        #expect(StructuredDictionary(parsing: text) == nil)
    }

    @Test func `a name that is set again keeps its place, and nil removes it`() {
        var members: StructuredDictionary = ["a": Self.one, "b": Self.two]

        members["a"] = Self.two
        #expect(members.names == ["a", "b"])
        members["a"] = nil
        members["c"] = nil
        #expect(members == ["b": Self.two])
    }

    // MARK: - Writing

    @Test(arguments: [
        (0.0005, "0.0"), (0.0015, "0.002"), (-0.0005, "0.0"), (1.0049, "1.005"), (-2.9996, "-3.0"),
        (1e11, "100000000000.0"),
    ])
    func `a decimal is rounded to three digits, to the even one of two`(number: Double, text: String) throws {
        #expect(try StructuredItem(.decimal(number)).serialized() == text)
    }

    @Test(
        arguments: [
            .integer(1_000_000_000_000_000), .integer(.min), .integer(.max), .date(.max), .decimal(1e12),
            .decimal(.nan),
            .decimal(-.infinity), .string("a\r\nSet-Cookie: b=c"), .string("ü"), .string("\0"), .token(""),
            .token("a b"),
            .token("1a"), .token("a\r\n"), .token("ü"), .token("a,b"),
        ] as [StructuredValue]
    )
    func `T-ANS-02 a value that a type cannot hold is refused, not repaired`(value: StructuredValue) {
        #expect(throws: StructuredFieldError.self) { try StructuredItem(value).serialized() }
        #expect(throws: StructuredFieldError.self) { try [StructuredMember.value(value)].serialized() }
        #expect(throws: StructuredFieldError.self) {
            try StructuredItem(.integer(1), parameters: ["a": value]).serialized()
        }
    }

    @Test(arguments: ["", "A", "1a", "a b", "a=", "a\r\nb", "ü", "-a"])
    func `T-ANS-02 so is a name`(name: String) {
        #expect(throws: StructuredFieldError.self) { try ([name: Self.one] as StructuredDictionary).serialized() }
        #expect(throws: StructuredFieldError.self) {
            try StructuredItem(.integer(1), parameters: [name: .boolean(true)]).serialized()
        }
    }

    @Test func `the error says what the value is, without its controls`() {
        let error = #expect(throws: StructuredFieldError.self) { try StructuredItem(.token("a\u{1B}[1m")).serialized() }

        #expect(error?.description == #"A structured field cannot hold the token "a\x1b[1m": a string can."#)
    }

    // MARK: - Any value, and any length

    @Test(arguments: 0..<40 as Range<UInt64>)
    func `what is written is read as it was`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var any = AnyStructuredField(random: random)
            let (item, list, dictionary) = (any.item(), any.list(), any.dictionary())
            random = any.random

            #expect(StructuredItem(parsing: try item.serialized()) == item)
            #expect([StructuredMember](parsing: try list.serialized() ?? "") == list)
            #expect(StructuredDictionary(parsing: try dictionary.serialized() ?? "") == dictionary)
        }
    }

    @Test(arguments: ["a=1,", "a;a;", "a,", "(", "(1 ", "a=(1 ", "\"\\\"", ":AAAA", "%\"%c3%bc", "1;a=\"", "@1,"])
    func `T-ANS-03 a field of 256 KiB is read in linear time`(piece: String) {
        for prefix in ["", "a=", "(", "\"", "%\"", ":"] {
            let text = prefix + String(repeating: piece, count: 262_144 / piece.utf8.count)

            let cost = CPUTime.of {
                _ = StructuredItem(parsing: text)
                _ = [StructuredMember](parsing: text)
                _ = StructuredDictionary(parsing: text)
            }

            #expect(cost < CPUTime.limitFor64KiB * 4, "\(prefix) then \(piece)")
        }
    }

    @Test func `T-ANS-03 thousands of names are read in linear time`() throws {
        let text = (0..<60_000).map { "a\($0)" }.joined(separator: ",")
        var members: StructuredDictionary?

        let cost = CPUTime.of { members = StructuredDictionary(parsing: text) }

        #expect(members?.names.count == 60_000)
        #expect(cost < CPUTime.limitFor64KiB * 8)
    }
}
