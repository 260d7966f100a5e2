@Suite("Requests from values of a program's types")
struct EncodableRequestSerializerTests {
    private let serializer = EncodableRequestSerializer()

    private struct Search: Encodable {
        struct Place: Encodable {
            var cityName: String
        }

        var searchText: String
        var isExact = true
        var since = Date(timeIntervalSince1970: 0)
        var price = Decimal(string: "12.345678901234567890123") ?? 0
        var ids: [UInt64] = [1, .max]
        var place: Place? = Place(cityName: "Köln")
    }

    private struct Broken: Encodable {
        struct Reason: Error {}
        func encode(to encoder: any Encoder) throws { throw Reason() }
    }

    private struct Plain {
        var text = "a"
    }

    private var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = .sortedKeys
        return encoder
    }

    @Test("the body is the encoder's JSON")
    func body() throws {
        let serializer = EncodableRequestSerializer(encoder: encoder)
        let value = Search(searchText: "a b")

        let request = try serializer.post(value)

        #expect(request.contentType == "application/json")
        #expect(try request.httpBody == encoder.encode(value))
    }

    @Test("the query has the same members, with the encoder's names and dates, and every digit")
    func query() throws {
        let serializer = EncodableRequestSerializer(encoder: encoder)

        let request = try serializer.get(Search(searchText: "a b"))

        #expect(
            request.url?.query
                == "ids%5B%5D=1&ids%5B%5D=18446744073709551615&is_exact=1&place%5Bcity_name%5D=K%C3%B6ln"
                + "&price=12.345678901234567890123&search_text=a%20b&since=1970-01-01T00%3A00%3A00Z"
        )
        #expect(request.httpBody == nil && request.contentType == nil)
    }

    @Test("a query block gets the value itself")
    func block() throws {
        serializer.setQueryStringSerializationWith { _, parameters, _ in (parameters as? Search)?.searchText }

        #expect(try serializer.get(Search(searchText: "x")).url?.query == "x")
    }

    @Test("collections of values are JSON, too")
    func collections() throws {
        #expect(try serializer.post(["a": 1]).bodyText == #"{"a":1}"#)
        #expect(try serializer.post([1, 2]).bodyText == "[1,2]")
        #expect(try serializer.get(["a": ["b"]]).url?.query == "a%5B%5D=b")
    }

    @Test("what is not Encodable is an error that says so, with an EncodingError", arguments: ["GET", "POST"])
    func notEncodable(method: String) throws {
        for parameters in [Plain() as Any, ["a": Plain()] as [String: Any], NSObject()] {
            let error = try #require(EncodableRequestSerializer().failure(parameters, method: method))

            #expect(error.domain == HTTPRequestSerializer.errorDomain && error.code == -1016)
            guard case .invalidValue? = error.userInfo[NSUnderlyingErrorKey] as? EncodingError else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.localizedDescription.contains("not Encodable"))
        }
    }

    @Test("an error of the encoder is that of the request; text alone is neither object nor array")
    func failures() {
        #expect(throws: Broken.Reason.self) { try serializer.post(Broken()) }
        #expect(throws: EncodingError.self) { try serializer.post(["a": Double.nan]) }
        #expect(serializer.failure("text")?.localizedFailureReason == "The `parameters` argument is not valid JSON.")
        #expect(serializer.failure(5, method: "GET")?.code == -1016)
    }

    @Test("without parameters there is neither body nor query")
    func none() throws {
        #expect(try EncodableRequestSerializer().post(nil).httpBody == nil)
        #expect(try EncodableRequestSerializer().get(nil).url?.query == nil)
    }
}
