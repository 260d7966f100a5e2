import AFWire

@Suite("Copies and archives of request serializers")
struct SerializerCopyTests {
    private let serializer = HTTPRequestSerializer()

    /// A subclass as programs have them.
    private final class Branded: JSONRequestSerializer, @unchecked Sendable {
        required init() {
            super.init()
            setValue("brand", forHTTPHeaderField: "X-Brand")
        }

        required init?(coder: NSCoder) {
            super.init(coder: coder)
        }

        override func request(
            bySerializing request: URLRequest,
            withParameters parameters: Any?,
            error: NSErrorPointer
        ) -> URLRequest? {
            var made = super.request(bySerializing: request, withParameters: parameters, error: error)
            made?.setValue("yes", forHTTPHeaderField: "X-Overridden")
            return made
        }
    }

    private func changeEverything(_ serializer: HTTPRequestSerializer) {
        serializer.stringEncoding = .isoLatin1
        serializer.allowsCellularAccess = false
        serializer.cachePolicy = .reloadIgnoringLocalCacheData
        serializer.httpShouldHandleCookies = false
        serializer.httpShouldUsePipelining = true
        serializer.networkServiceType = .background
        serializer.timeoutInterval = 7.5
        serializer.bodyCoding = .gzip
        serializer.setValue("é", forHTTPHeaderField: "X-Test")
        serializer.setValue(nil, forHTTPHeaderField: "User-Agent")
        serializer.httpMethodsEncodingParametersInURI = ["GET", "PURGE"]
    }

    private func isSame(_ one: HTTPRequestSerializer, _ other: HTTPRequestSerializer) throws -> Bool {
        let requests = try [one, other].map { try $0.get(["a": "b"]) }
        return one.stringEncoding == other.stringEncoding && one.httpRequestHeaders == other.httpRequestHeaders
            && one.httpMethodsEncodingParametersInURI == other.httpMethodsEncodingParametersInURI
            && requests[0] == requests[1] && one.bodyCoding == other.bodyCoding
            && requests[0].contents.explicitTimeout == requests[1].contents.explicitTimeout
            && requests[0].contents.explicitCachePolicy == requests[1].contents.explicitCachePolicy
            && requests[0].contents.limits.value.serviceType == requests[1].contents.limits.value.serviceType
            && requests[0].contents.explicitPipelining == requests[1].contents.explicitPipelining
    }

    @Test("16 8.3 a copy has every setting, the query block too, and is another object")
    func copies() throws {
        changeEverything(serializer)
        serializer.setQueryStringSerializationWith { _, _, _ in "block" }

        let copy = try #require(serializer.copy() as? HTTPRequestSerializer)

        #expect(copy !== serializer)
        #expect(try isSame(copy, serializer))
        #expect(try copy.get(["a": 1]).url?.query == "block")
        copy.setValue("other", forHTTPHeaderField: "X-Test")
        #expect(serializer.value(forHTTPHeaderField: "X-Test") == "é")
    }

    @Test("16 8.3 an archive has every setting but the query block")
    func archives() throws {
        changeEverything(serializer)
        serializer.setQueryStringSerializationWith { _, _, _ in "block" }

        let read = try #require(try serializer.archived())

        #expect(try read.get(["a": 1]).url?.query == "a=1")
        serializer.setQueryStringSerializationWith(nil)
        #expect(try isSame(read, serializer))
    }

    @Test("a property that was never set is not set in a copy or an archive either")
    func untouched() throws {
        let read = try #require(try serializer.archived())
        let copy = try #require(serializer.copy() as? HTTPRequestSerializer)

        for other in [read, copy] {
            #expect(try isSame(other, serializer))
            #expect(try other.get(nil).contents.explicitTimeout == nil)
        }
    }

    @Test("8.5 8.6 subclasses keep their own settings")
    func subclasses() throws {
        let json = JSONRequestSerializer(writingOptions: [.prettyPrinted, .sortedKeys])
        let list = PropertyListRequestSerializer(format: .binary, writeOptions: 3)
        let encodable = EncodableRequestSerializer(encoder: JSONEncoder())
        for serializer in [json, list, encodable] { changeEverything(serializer) }

        let jsons = [try json.archived(), json.copy() as? JSONRequestSerializer]
        let lists = [try list.archived(), list.copy() as? PropertyListRequestSerializer]

        for other in jsons {
            #expect(other?.writingOptions == [.prettyPrinted, .sortedKeys] && other?.timeoutInterval == 7.5)
        }
        for other in lists {
            #expect(other?.format == .binary && other?.writeOptions == 3 && other?.timeoutInterval == 7.5)
        }
        #expect((encodable.copy() as? EncodableRequestSerializer)?.encoder === encodable.encoder)
        #expect(try encodable.archived()?.timeoutInterval == 7.5)
    }

    @Test("a subclass of a program's is copied and archived as what it is")
    func programsOwn() throws {
        let serializer = Branded()
        serializer.writingOptions = .sortedKeys
        serializer.setValue("other", forHTTPHeaderField: "X-Brand")

        let copy = try #require(serializer.copy() as? Branded)

        #expect(copy.writingOptions == .sortedKeys)
        #expect(copy.value(forHTTPHeaderField: "X-Brand") == "other")
        #expect(try copy.post(["a": 1]).value(forHTTPHeaderField: "X-Overridden") == "yes")
        #expect(Branded.serializer().value(forHTTPHeaderField: "X-Brand") == "brand")
    }

    @Test("the factories of the original make what their names say")
    func makers() {
        #expect(type(of: HTTPRequestSerializer.serializer()) == HTTPRequestSerializer.self)
        #expect(JSONRequestSerializer.serializer(withWritingOptions: .sortedKeys).writingOptions == .sortedKeys)
        let list = PropertyListRequestSerializer.serializer(withFormat: .binary, writeOptions: 1)
        #expect(list.format == .binary && list.writeOptions == 1)
        #expect(HTTPRequestSerializer.supportsSecureCoding)
    }

    @Test("a damaged archive gives no serializer, and does not end the program")
    func damaged() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(NSArray(array: [NSNumber(value: 1)]), forKey: "mutableHTTPRequestHeaders")
        archiver.encode(999, forKey: "cachePolicy")
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.decodingFailurePolicy = .setErrorAndReturn

        #expect(HTTPRequestSerializer(coder: unarchiver) == nil)
        #expect(JSONRequestSerializer(coder: unarchiver) == nil)

        let numbers = NSKeyedArchiver(requiringSecureCoding: true)
        for key in ["cachePolicy", "networkServiceType", "format", "queryStringSerializationStyle"] {
            numbers.encode(-5, forKey: key)
        }
        let read = PropertyListRequestSerializer(coder: try NSKeyedUnarchiver(forReadingFrom: numbers.encodedData))
        #expect(read?.format == .xml && read?.cachePolicy == .useProtocolCachePolicy)
    }
}
