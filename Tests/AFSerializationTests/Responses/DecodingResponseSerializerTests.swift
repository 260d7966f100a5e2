@Suite struct DecodingResponseSerializerTests {
    struct User: Codable, Equatable, Sendable {
        var name: String
        var tags: [Int]
    }

    private let user = User(name: "Ada", tags: [1, 2])
    private let body = Data(#"{"name":"Ada","tags":[1,2]}"#.utf8)
    private let json = "application/json"

    @Test func `JSON becomes a value`() throws {
        let serializer = DecodingResponseSerializer(User.self)

        let (object, error) = serializer.serialize(try makeResponse(type: json), data: body)

        #expect(object as? User == user)
        #expect(error == nil)
        #expect(try serializer.value(for: try makeResponse(type: json), data: body) == user)
        #expect(
            DecodingResponseSerializer<User>().acceptableContentTypes == [
                "application/json", "text/json", "text/javascript",
            ]
        )
    }

    @Test func `decoders of other formats, and functions, make values`() throws {
        let list = try PropertyListEncoder().encode(user)
        let lists = DecodingResponseSerializer(User.self, decoder: PropertyListDecoder())
        let functions = DecodingResponseSerializer { data in data.count }
        let own = DecodingResponseSerializer(User.self, decoder: Fixed())

        #expect(try lists.value(for: try makeResponse(type: "application/x-plist"), data: list) == user)
        #expect(try functions.value(for: try makeResponse(type: "any/thing"), data: list) == list.count)
        #expect(own.acceptableContentTypes == nil)
        #expect(try own.value(for: try makeResponse(), data: Data("x".utf8)) == user)
    }

    @Test("9.3 a value comes beside the error of its status, which the method for values throws")
    func unacceptableStatus() throws {
        let serializer = DecodingResponseSerializer(User.self)
        let response = try makeResponse(404, type: json)

        let (object, error) = serializer.serialize(response, data: body)

        #expect(object as? User == user)
        #expect(try #require(error as NSError?).isOurs(-1011))
        let thrown = #expect(throws: NSError.self) { try serializer.value(for: response, data: body) }
        #expect(try #require(thrown).isOurs(-1011))
    }

    @Test("9.3 the decoder's error goes before that of the status, and is kept whole")
    func decodingErrors() throws {
        let serializer = DecodingResponseSerializer(User.self)
        let broken = Data(#"{"name":"Ada","tags":[1,"x"]}"#.utf8)

        let error = try #require(
            serializer.serialize(try makeResponse(500, type: json), data: broken).error as NSError?
        )

        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == CocoaError.coderReadCorrupt.rawValue)
        #expect(error.localizedDescription.hasPrefix("Could not decode User from the body: at tags."))
        #expect(error.userInfo[HTTPResponseSerializer.decodingErrorKey] is DecodingError)
        #expect(try #require(error.beneath).isOurs(-1011))
    }

    @Test func `T-MSG-57 what a server wrote is printable and short where an error quotes it`() throws {
        let key = "\u{1B}[2J\u{202E}" + String(repeating: "k", count: 100_000)
        let body = try JSONEncoder().encode([key: "no number"])
        let serializer = DecodingResponseSerializer([String: Int].self)

        let error = try #require(serializer.serialize(try makeResponse(type: json), data: body).error)

        let text = error.localizedDescription
        #expect(text.contains("at \\x1b[2J\\xe2\\x80\\xaekkk"), "\(text.debugDescription.prefix(300))")
        #expect(text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && text.utf8.count < 1100)
    }

    @Test func `the method for values throws what the decoder threw`() throws {
        struct Own: Error, Equatable {}
        let response = try makeResponse(type: json)
        let failing = DecodingResponseSerializer<User> { _ in throw Own() }

        #expect(throws: DecodingError.self) {
            try DecodingResponseSerializer(User.self).value(for: response, data: Data("{}".utf8))
        }
        #expect(throws: Own()) { try failing.value(for: response, data: body) }
        let other = try makeResponse(500, type: json)
        let thrown = #expect(throws: NSError.self) { try failing.value(for: other, data: body) }
        #expect(try #require(thrown).isOurs(-1011))
    }

    @Test func `an empty body has a value only for a type that represents it`() throws {
        let response = try makeResponse(204)
        for body in [nil, Data()] {
            let (object, error) = DecodingResponseSerializer(User.self).serialize(response, data: body)
            let thrown = #expect(throws: NSError.self) {
                try DecodingResponseSerializer(User.self).value(for: response, data: body)
            }

            #expect(object == nil && error == nil)
            #expect(try #require(thrown).isOurs(-1014))
            #expect(try DecodingResponseSerializer(User?.self).value(for: response, data: body) == nil)
            #expect(
                try DecodingResponseSerializer<EmptyBody>().value(for: response, data: body) == EmptyBody()
            )
        }
        let full = try makeResponse(type: json)
        #expect(try DecodingResponseSerializer(User?.self).value(for: full, data: self.body) == user)
        #expect(try DecodingResponseSerializer<EmptyBody>().value(for: full, data: self.body) == EmptyBody())
        #expect(try JSONEncoder().encode(EmptyBody()) == Data("{}".utf8))
    }

    @Test func `a copy decodes with the original's decoder`() throws {
        let serializer = DecodingResponseSerializer<Int>(acceptableContentTypes: ["a/b"]) { $0.count }

        let copy = try #require(serializer.copy() as? DecodingResponseSerializer<Int>)

        #expect(copy !== serializer)
        #expect(copy.acceptableContentTypes == ["a/b"])
        #expect(try copy.value(for: try makeResponse(type: "a/b"), data: Data("xyz".utf8)) == 3)
    }

    @Test func `archives of a serializer that cannot be archived are refused when they are read`() throws {
        let serializer: HTTPResponseSerializer = DecodingResponseSerializer(User.self)
        let compound = CompoundResponseSerializer(responseSerializers: [serializer])

        #expect(throws: (any Error).self) { try archived(serializer) }
        #expect(throws: (any Error).self) { try archived(compound) }
    }

    @Test func `a subclass that is not generic is archived as a member`() throws {
        let compound = CompoundResponseSerializer(responseSerializers: [CountsSerializer()])

        let read = try #require(try archived(compound)?.responseSerializers.first as? CountsSerializer)

        #expect(read.acceptableContentTypes == ["counts/json"])
        #expect(try read.value(for: try makeResponse(type: "counts/json"), data: Data("[1]".utf8)) == [1])
    }
}

/// Returns the same object for every body.
private struct Fixed: BodyDecoder {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try JSONDecoder().decode(type, from: Data(#"{"name":"Ada","tags":[1,2]}"#.utf8))
    }
}

final class CountsSerializer: DecodingResponseSerializer<[Int]>, @unchecked Sendable {
    required init() {
        super.init()
        acceptableContentTypes = ["counts/json"]
    }

    required init?(coder: NSCoder) {
        super.init(coder: coder)
    }
}
