import Dispatch

@Suite struct HTTPResponseSerializerTests {
    private let serializer = HTTPResponseSerializer()

    // MARK: - The catalogue

    @Test("13.4.1 the codes from 200 to 299 with a body of HTML are no error")
    func success() throws {
        for status in 200...299 {
            let (object, error) = serialized(serializer, try makeResponse(status, type: "text/html"), "text")

            #expect(error == nil)
            #expect(object as? Data == Data("text".utf8))
        }
    }

    @Test("13.4.2 nothing without a content type is valid where HTML is expected")
    func missingTypeWithoutBody() throws {
        serializer.acceptableContentTypes = ["text/html"]
        let response = try makeResponse(205)

        #expect(try serializer.validate(response, data: nil))
        #expect(try serializer.validate(response, data: Data()))
        #expect(serializer.validationError(for: response, data: nil) == nil)
    }

    @Test("13.4.3 a body without a content type is invalid, with an error")
    func missingTypeWithBody() throws {
        serializer.acceptableContentTypes = ["text/html"]
        let response = try makeResponse(205)

        var error: NSError?
        let accepted = withUnsafeMutablePointer(to: &error) { error in
            serializer.validate(response, data: Data("x".utf8), error: error)
        }

        #expect(!accepted)
        #expect(try #require(error).isOurs(-1016))
        #expect(error?.localizedDescription == "Request failed: unacceptable content-type: (null)")
    }

    @Test("13.4.4 the codes from 400 to 599 are errors")
    func failure() throws {
        for status in 400...599 {
            let (_, error) = serialized(serializer, try makeResponse(status, type: "text/html"), "text")

            #expect(try #require(error).isOurs(-1011))
        }
    }

    @Test("13.4.5 HTML is valid")
    func html() throws {
        #expect(try serializer.validate(makeResponse(type: "text/html"), data: Data("<p>".utf8)))
    }

    @Test("13.4.6 a copy is another object with equal sets")
    func copying() throws {
        serializer.acceptableStatusCodes = IndexSet([201, 304])
        serializer.acceptableContentTypes = ["text/html", "text/plain"]

        let copy = try #require(serializer.copy() as? HTTPResponseSerializer)
        serializer.acceptableStatusCodes = nil

        #expect(copy !== serializer)
        #expect(copy.acceptableStatusCodes == IndexSet([201, 304]))
        #expect(copy.acceptableContentTypes == ["text/html", "text/plain"])
    }

    @Test("13.4.7 it supports secure coding")
    func secureCoding() {
        #expect(HTTPResponseSerializer.supportsSecureCoding)
    }

    // MARK: - Defaults and errors

    @Test("9.2 what is accepted unless set otherwise")
    func defaults() {
        for serializer in [HTTPResponseSerializer(), .serializer()] {
            #expect(serializer.acceptableStatusCodes == IndexSet(200..<300))
            #expect(serializer.acceptableContentTypes == nil)
        }
    }

    @Test("9.2 the texts and details of errors")
    func details() throws {
        serializer.acceptableContentTypes = ["application/json"]
        let response = try makeResponse(404, type: "text/HTML; charset=utf-8")
        let body = Data("<p>".utf8)

        let error = try #require(serialized(serializer, response, "<p>").error)
        let beneath = try #require(error.beneath)

        #expect(error.localizedDescription == "Request failed: not found (404)")
        #expect(beneath.localizedDescription == "Request failed: unacceptable content-type: text/html")
        for (error, code) in [(error, -1011), (beneath, -1016)] {
            #expect(error.isOurs(code))
            #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == response.url)
            #expect(error.userInfo[HTTPResponseSerializer.failingResponseErrorKey] as? HTTPURLResponse === response)
            #expect(error.userInfo[HTTPResponseSerializer.failingResponseDataErrorKey] as? Data == body)
        }
        #expect(HTTPResponseSerializer.errorDomain == error.domain)
    }

    @Test func `T-MSG-57 a content type without end is cut where an error quotes it`() throws {
        serializer.acceptableContentTypes = ["application/json"]
        let response = try makeResponse(type: "text/" + String(repeating: "x", count: 50_000))

        let error = try #require(serialized(serializer, response, "<p>").error)

        #expect(error.localizedDescription.hasPrefix("Request failed: unacceptable content-type: text/xxx"))
        #expect(error.localizedDescription.utf8.count < 400)
    }

    @Test("9.2 nil turns a check off")
    func withoutChecks() throws {
        serializer.acceptableStatusCodes = nil
        serializer.acceptableContentTypes = nil

        #expect(serialized(serializer, try makeResponse(599, type: "a/b"), "x").error == nil)
    }

    @Test("9.2 a response of another kind is valid")
    func otherKinds() throws {
        serializer.acceptableContentTypes = ["text/html"]
        let url = try #require(URL(string: "file:///etc/hosts"))
        let file = URLResponse(url: url, mimeType: "a/b", expectedContentLength: 1, textEncodingName: nil)

        #expect(serialized(serializer, file, "x").error == nil)
        #expect(serialized(serializer, nil, "x").error == nil)
    }

    @Test("16 9.2 a wrong type of an empty body is invalid without an error")
    func invalidWithoutError() throws {
        serializer.acceptableContentTypes = ["application/json"]
        let response = try makeResponse(type: "text/html")

        #expect(try serializer.validate(response, data: Data()) == false)
        #expect(try serializer.object(for: response, data: nil) == nil)
    }

    @Test("9.2 a body without an acceptable type is returned all the same, but not by the method that throws")
    func bodyBesideError() throws {
        let response = try makeResponse(500)

        #expect(serialized(serializer, response, "x").object as? Data == Data("x".utf8))
        #expect(throws: NSError.self) { try serializer.object(for: response, data: Data("x".utf8)) }
    }

    @Test("an error names the URL without user name and password")
    func noCredentials() throws {
        let response = try makeResponse(404, url: "http://me:secret@example.com/thing")

        let error = try #require(serialized(serializer, response, "x").error)

        #expect(error.userInfo[NSURLErrorFailingURLErrorKey] as? URL == URL(string: "http://example.com/thing"))
        #expect(!"\(error)".contains("secret"))
    }

    // MARK: - The change log

    @Test("14 responses: a response without a URL has no error, and traps nothing")
    func withoutURL() throws {
        serializer.acceptableContentTypes = ["application/json"]
        let url = try #require(URL(string: "http://example.com"))
        let response = try #require(
            ResponseWithoutURL(url: url, statusCode: 404, httpVersion: nil, headerFields: ["Content-Type": "a/b"])
        )

        let (accepted, error) = (
            try serializer.validate(response, data: Data("x".utf8)), serialized(serializer, response, "x").error
        )

        #expect(!accepted)
        #expect(error == nil)
    }

    @Test("14 responses: empty and missing bodies can be validated", arguments: [nil, Data()])
    func noBody(_ body: Data?) throws {
        serializer.acceptableContentTypes = ["application/json"]

        #expect(try serializer.validate(makeResponse(204), data: body))
        #expect(serializer.validationError(for: try makeResponse(204, type: "text/html"), data: body) == nil)
        let error = try #require(serializer.validationError(for: try makeResponse(404), data: body) as NSError?)
        #expect(error.isOurs(-1011))
        #expect(error.userInfo[HTTPResponseSerializer.failingResponseDataErrorKey] as? Data == body)
    }

    @Test("any thread may change a serializer while others use it")
    func threads() throws {
        let response = try makeResponse(404, type: "text/html")
        let serializer = serializer

        DispatchQueue.concurrentPerform(iterations: 200) { index in
            if index.isMultiple(of: 3) { serializer.acceptableStatusCodes = IndexSet(integer: index) }
            if index.isMultiple(of: 5) { serializer.acceptableContentTypes = ["a/\(index)"] }
            _ = serializer.serialize(response, data: Data("x".utf8))
        }

        #expect(serializer.acceptableContentTypes != nil)
    }
}
