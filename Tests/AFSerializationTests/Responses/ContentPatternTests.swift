/// What all serializers of content do, by the example of JSON.
@Suite struct ContentPatternTests {
    private let serializer = JSONResponseSerializer()
    private let json = "application/json"

    @Test("9.3 an acceptable response is decoded")
    func acceptable() throws {
        let (object, error) = serialized(serializer, try makeResponse(type: json), #"{"a":1}"#)

        #expect(object as? [String: Int] == ["a": 1])
        #expect(error == nil)
    }

    @Test("16 5.6 the body of an unacceptable status is decoded beside the error")
    func unacceptableStatus() throws {
        let (object, error) = serialized(serializer, try makeResponse(404, type: json), #"{"a":1}"#)

        #expect(object as? [String: Int] == ["a": 1])
        #expect(try #require(error).isOurs(-1011))
    }

    @Test("9.3 a caller that passes no pointer gets no object of a response that is not valid")
    func withoutErrorPointer() throws {
        let body = Data(#"{"a":1}"#.utf8)

        #expect(serializer.responseObject(for: try makeResponse(404, type: json), data: body, error: nil) == nil)
        #expect(serializer.responseObject(for: try makeResponse(type: "a/b"), data: body, error: nil) == nil)
        #expect(serializer.responseObject(for: try makeResponse(type: json), data: body, error: nil) != nil)
    }

    @Test("9.3 an unacceptable type is not decoded, whatever the status")
    func unacceptableType() throws {
        let both = serialized(serializer, try makeResponse(404, type: "text/html"), #"{"a":1}"#)
        let alone = serialized(serializer, try makeResponse(type: "text/html"), #"{"a":1}"#)

        #expect(both.object == nil)
        #expect(try #require(both.error).isOurs(-1011))
        #expect(try #require(both.error?.beneath).isOurs(-1016))
        #expect(alone.object == nil)
        #expect(try #require(alone.error).isOurs(-1016))
        #expect(alone.error?.beneath == nil)
    }

    @Test("9.3 an empty body has no object, and an error only for its status")
    func emptyBody() throws {
        for type in [json, "text/html", nil] {
            let good = serialized(serializer, try makeResponse(204, type: type), "")
            let bad = serialized(serializer, try makeResponse(404, type: type), "")

            #expect(good.object == nil)
            #expect(good.error == nil)
            #expect(bad.object == nil)
            #expect(try #require(bad.error).isOurs(-1011))
            #expect(bad.error?.beneath == nil)
        }
    }

    @Test("9.3 the error of the decoder goes before that of the status")
    func undecodable() throws {
        let good = serialized(serializer, try makeResponse(type: json), "{broken")
        let bad = serialized(serializer, try makeResponse(500, type: json), "{broken")

        #expect(good.object == nil)
        #expect(good.error?.domain == NSCocoaErrorDomain)
        #expect(good.error?.beneath == nil)
        #expect(bad.object == nil)
        #expect(bad.error?.domain == NSCocoaErrorDomain)
        #expect(try #require(bad.error?.beneath).isOurs(-1011))
    }

    @Test("9.1, 14 responses: the chain of errors is searched for the code with its domain")
    func chain() throws {
        /// Reports nested errors of its own.
        final class Strict: JSONResponseSerializer, @unchecked Sendable {
            let domain: String

            init(domain: String) {
                self.domain = domain
                super.init()
            }

            required init() {
                domain = ""
                super.init()
            }

            required init?(coder: NSCoder) { nil }

            override func validate(_ response: HTTPURLResponse?, data: Data?, error: NSErrorPointer) -> Bool {
                let cause = NSError(domain: domain, code: -1016)
                let middle = NSError(domain: "b", code: 2, userInfo: [NSUnderlyingErrorKey: cause])
                error?.pointee = NSError(domain: "a", code: 1, userInfo: [NSUnderlyingErrorKey: middle])
                return false
            }
        }

        let response = try makeResponse(type: json)
        let ours = serialized(Strict(domain: HTTPResponseSerializer.errorDomain), response, "[1]")
        let others = serialized(Strict(domain: NSURLErrorDomain), response, "[1]")
        let failing = serialized(Strict(domain: NSURLErrorDomain), response, "[")

        #expect(ours.object == nil)
        #expect(ours.error?.domain == "a")
        #expect(others.object as? [Int] == [1])
        #expect(others.error?.domain == "a")
        #expect(failing.error?.beneath?.domain == "a")
    }
}
