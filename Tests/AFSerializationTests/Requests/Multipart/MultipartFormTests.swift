@testable import AFSerialization

@Suite("Multipart forms")
struct MultipartFormTests {
    private let serializer = HTTPRequestSerializer()
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func file(_ name: String, _ text: String = "content") throws -> URL {
        try folder.write(name, Array(text.utf8))
        return folder.url.appendingPathComponent(name)
    }

    // MARK: - Layout

    @Test("8.4 the parts stand between boundaries, byte for byte")
    func layout() throws {
        let file = try file("a.txt")
        let request = try serializer.form(["title": "Sun"]) { form in
            try form.appendPart(withFileURL: file, name: "file")
            form.appendPart(
                withFileData: Data("{}".utf8),
                name: "json",
                fileName: "b.json",
                mimeType: "application/json"
            )
            form.appendPart(
                withInputStream: InputStream(data: Data("stream".utf8)),
                name: "s",
                fileName: "c",
                length: 6,
                mimeType: "x/y"
            )
            form.appendPart(
                withHeaders: ["X-B": "1", "X-A": "2", "content-disposition": "inline"],
                body: Data("own".utf8)
            )
            form.appendPart(withHeaders: nil, body: Data("bare".utf8))
        }

        #expect(
            request.formText
                == [
                    "--B", "Content-Disposition: form-data; name=\"title\"", "", "Sun",
                    "--B", "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"",
                    "Content-Type: text/plain", "",
                    "content",
                    "--B", "Content-Disposition: form-data; name=\"json\"; filename=\"b.json\"",
                    "Content-Type: application/json", "", "{}",
                    "--B", "Content-Disposition: form-data; name=\"s\"; filename=\"c\"", "Content-Type: x/y", "",
                    "stream",
                    "--B", "content-disposition: inline", "X-A: 2", "X-B: 1", "", "own",
                    "--B", "", "bare",
                    "--B--", "",
                ].joined(separator: "\r\n")
        )
    }

    @Test("8.4 14 requests: the request announces boundary and length, and has a stream in place of a body")
    func request() throws {
        let request = try serializer.form(["a": 1])
        let stream = try #require(request.form)

        #expect(request.contentType == "multipart/form-data; boundary=\(stream.boundary)")
        #expect(request.value(forHTTPHeaderField: "Content-Length") == "\(stream.contentLength)")
        #expect(request.httpBody == nil && request.httpMethod == "POST")
        #expect(stream.contentLength == Int64(try #require(request.formCopy).readOnce().count))
    }

    @Test("14 requests: each form has a boundary of its own, of 128 bits, T-REQ-19")
    func boundaries() throws {
        let boundaries = try (0..<50).map { _ in try #require(try serializer.form(["a": 1]).form).boundary }

        #expect(Set(boundaries).count == 50)
        for boundary in boundaries { #expect(boundary.wholeMatch(of: /Boundary\+[0-9A-F]{32}/) != nil) }
    }

    @Test("14 requests: no parts leave an empty form")
    func noParts() throws {
        for parameters in [nil, [:]] as [[String: Any]?] {
            let request = try serializer.form(parameters)

            #expect(request.httpBody == Data() && request.httpBodyStream == nil)
            #expect(request.contentType == "application/x-www-form-urlencoded")
        }
    }

    @Test("parameters are fields: data as it is, null empty, others by their description")
    func parameters() throws {
        let request = try serializer.form([
            "data": Data("raw".utf8), "null": NSNull(), "truth": true, "list": [1, 2], "deep": ["a b": 1.0],
            "object": NSData(data: Data("old".utf8)),
        ])

        let parts = request.formText.components(separatedBy: "--B\r\n").dropFirst()
            .map { $0.replacingOccurrences(of: "Content-Disposition: form-data; name=", with: "") }
            .map { $0.replacingOccurrences(of: "\r\n\r\n", with: "=").replacingOccurrences(of: "\r\n", with: "") }
        #expect(
            parts == [
                "\"data\"=raw", "\"deep[a b]\"=1", "\"list[]\"=1", "\"list[]\"=2", "\"null\"=", "\"object\"=old",
                "\"truth\"=1--B--",
            ]
        )
    }

    @Test("parameters have the string encoding, and what it lacks is left out")
    func encoding() throws {
        serializer.stringEncoding = .isoLatin1
        let request = try serializer.form(["a": "é", "b": "漢"])

        let bytes = try #require(request.formCopy).readOnce()
        #expect(bytes.range(of: Data([13, 10, 13, 10, 0xE9, 13, 10])) != nil)
        #expect(!request.formText.contains("name=\"b\""))
    }

    @Test("T-REQ-24 parameters that are nested too deep are an error")
    func deep() {
        var deep: Any = "x"
        for _ in 0..<600 { deep = [deep] }

        #expect(throws: NSError.self) { try serializer.form(["a": deep]) }
    }

    @Test("GET and HEAD have no body: an error, and no trap", arguments: ["GET", "HEAD", "get"])
    func bodiless(method: String) throws {
        let error = #expect(throws: NSError.self) {
            try serializer.multipartFormRequest(
                withMethod: method,
                urlString: "http://api.test/",
                parameters: ["a": 1],
                constructingBodyWith: nil
            )
        }

        #expect(error?.domain == HTTPRequestSerializer.errorDomain && error?.code == -1103)
    }

    @Test("an error of the block is thrown; so is a URL that cannot be parsed")
    func thrown() {
        #expect(throws: CancellationError.self) { try serializer.form { _ in throw CancellationError() } }
        #expect(throws: NSError.self) { try serializer.form(["a": 1], to: "http://[") }
    }

    // MARK: - Files

    @Test("13.2.8 the type of a file is that of its extension")
    func fileTypes() throws {
        let certificate = try file("adn.CER")
        let request = try serializer.form { try $0.appendPart(withFileURL: certificate, name: "test") }

        #expect(request.formText.contains("filename=\"adn.CER\"\r\nContent-Type: application/x-x509-ca-cert\r\n"))
        let types = [
            "jpg": "image/jpeg", "PNG": "image/png", "nope": "application/octet-stream", "": FileTypes.unknown,
        ]
        for (ending, type) in types { #expect(FileTypes.mimeType(ofExtension: ending) == type) }
    }

    @Test("every entry of the list of types is a type, and no extension has two")
    func typeList() {
        let entries = FileTypes.entries
        let endings = entries.flatMap { $0.dropFirst() }

        for entry in entries { #expect(entry.count > 1 && entry[0].split(separator: "/").count == 2, "\(entry)") }
        #expect(Set(endings).count == endings.count && endings.count > 500)
        #expect(endings.allSatisfy { $0 == $0.lowercased() })
    }

    @Test("14 requests: what is no file, or not there, is an error with the original's code and words")
    func badFiles() throws {
        let folder = folder.url
        let missing = folder.appendingPathComponent("missing")
        let cases: [(URL?, String)] = [
            (URL(string: "http://api.test/file"), "Expected URL to be a file URL"),
            (missing, "File URL not reachable."),
            (folder, "The URL is not that of a regular file."),
            (URL(fileURLWithPath: "/dev/zero"), "The URL is not that of a regular file."),
        ]
        for (url, reason) in cases {
            let url = try #require(url)
            let error = serializer.formFailure { try $0.appendPart(withFileURL: url, name: "f") }

            #expect(error?.domain == "com.alamofire.error.serialization.request" && error?.code == -1000)
            #expect(error?.localizedFailureReason == reason)
        }
        let request = try serializer.form { form in
            try? form.appendPart(withFileURL: missing, name: "f")
            form.appendPart(withFormData: Data("x".utf8), name: "g")
        }
        #expect(!request.formText.contains("name=\"f\"") && request.formText.contains("name=\"g\""))
    }

    @Test("links lead to their files")
    func links() throws {
        let file = try file("target.txt", "linked")
        let link = folder.url.appendingPathComponent("link.json")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)

        let request = try serializer.form { try $0.appendPart(withFileURL: link, name: "f") }

        #expect(request.formText.contains("filename=\"link.json\"\r\nContent-Type: application/json\r\n\r\nlinked\r\n"))
    }

    // MARK: - What must not be sent

    /// A reader of forms that knows only the rules of RFC 7578.
    private func parts(_ request: URLRequest) throws -> [(head: Data, body: Data)] {
        let stream = try #require(request.copiedForm)
        var rest = Data("\r\n".utf8) + stream.readOnce()
        let delimiter = Data("\r\n--\(stream.boundary)".utf8)
        var parts: [(head: Data, body: Data)] = []
        #expect(rest.starts(with: delimiter))
        rest = Data(rest.dropFirst(delimiter.count))
        while rest != Data("--\r\n".utf8) {
            let end = try #require(rest.range(of: delimiter))
            let head = try #require(rest.range(of: Data("\r\n\r\n".utf8)))
            parts.append((Data(rest[2..<head.lowerBound]), Data(rest[head.upperBound..<end.lowerBound])))
            rest = Data(rest[end.upperBound...])
        }
        return parts
    }

    /// As browsers write it between quotes.
    private func quoted(_ text: some Sequence<Unicode.Scalar>) -> String {
        let escaped = text.map { scalar in
            scalar == "\"" || scalar.value < 32 || scalar.value == 127
                ? String(format: "%%%02X", scalar.value) : String(String.UnicodeScalarView([scalar]))
        }
        return escaped.joined()
    }

    @Test(
        "T-REQ-18 whatever names and types are, the reader gets the same parts with the same names",
        arguments: 0..<60
    )
    func randomNames(seed: UInt64) throws {
        var dice = SplitMix(seed: seed)
        let nasty: [String] = [
            "\"", "\r", "\n", "\r\n\r\n", ";", "\0", "\u{7F}", "\\", "/", "..", "é", "漢", "😀", "=", "a", " ",
        ]
        func text() -> String {
            (0..<Int.random(in: 0...8, using: &dice)).compactMap { _ in nasty.randomElement(using: &dice) }.joined()
        }
        let fields = (0..<Int.random(in: 1...5, using: &dice)).map { _ in (name: text(), file: text(), body: text()) }

        let request = try serializer.form { form in
            for field in fields {
                form.appendPart(
                    withFileData: Data(field.body.utf8),
                    name: field.name,
                    fileName: field.file,
                    mimeType: "x/y"
                )
            }
        }

        let expected = fields.map { field in
            let file = field.file.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).last ?? []
            let names = "name=\"\(quoted(field.name.unicodeScalars))\"; filename=\"\(quoted(file))\""
            return Data("Content-Disposition: form-data; \(names)\r\nContent-Type: x/y".utf8)
        }
        let found = try parts(request)
        #expect(found.map(\.head) == expected)
        #expect(found.map(\.body) == fields.map { Data($0.body.utf8) })
    }

    @Test("T-REQ-18 T-REQ-01 header values of parts may have any byte but controls", arguments: ["x", ""])
    func headerBytes(around: String) {
        for value in UInt8(0)...127 {
            let text = around + String(UnicodeScalar(value)) + around
            let isFine = value == 9 || (value >= 32 && value < 127)

            let error = serializer.formFailure { $0.appendPart(withHeaders: ["X-A": text], body: Data()) }
            let typeError = serializer.formFailure {
                $0.appendPart(withFileData: Data(), name: "n", fileName: "f", mimeType: text)
            }

            #expect((error == nil) == isFine && (typeError == nil) == isFine, "\(value)")
        }
    }

    @Test func `T-API-27 a part may have no bytes, and its file no name`() throws {
        let request = try serializer.form {
            $0.appendPart(withFileData: Data(), name: "f", fileName: "", mimeType: "x/y")
        }

        #expect(request.formText.contains("name=\"f\"; filename=\"\"\r\nContent-Type: x/y\r\n\r\n\r\n--"))
    }

    @Test("16 8.4 quotes and line breaks in names do not end them, and folders are not sent, T-REQ-18")
    func names() throws {
        let request = try serializer.form { form in
            form.appendPart(withFormData: Data(), name: "a\"; x=\"y\r\nX-Evil: 1\r\n\r\n\0é\\")
            form.appendPart(withFileData: Data(), name: "b", fileName: "/home/me/../c\"\n.txt", mimeType: "x/y")
        }

        #expect(request.formText.contains("name=\"a%22; x=%22y%0D%0AX-Evil: 1%0D%0A%0D%0A%00é\\\"\r\n\r\n"))
        #expect(request.formText.contains("name=\"b\"; filename=\"c%22%0A.txt\"\r\nContent-Type: x/y\r\n"))
    }

    @Test(
        "header fields of parts with line breaks fail the request",
        arguments: [["X-A": "a\r\nX-B: 1"], ["X-A": "a\0"], ["X\r\nA": "1"], ["": "1"], ["X A": "1"], ["X:": "1"]]
    )
    func badHeaders(headers: [String: String]) throws {
        let error = serializer.formFailure { form in
            form.appendPart(withFormData: Data("x".utf8), name: "fine")
            form.appendPart(withHeaders: headers, body: Data())
        }

        #expect(error?.domain == HTTPRequestSerializer.errorDomain && error?.code == -1000)
        #expect(error?.localizedDescription.contains("header field") == true)
        #expect(error?.localizedDescription.contains("\n") == false)
    }

    @Test("a type with a line break, and a negative length, fail the request")
    func badParts() throws {
        let file = try file("a")
        let builders: [@Sendable (any MultipartFormData) throws -> Void] = [
            { try $0.appendPart(withFileURL: file, name: "f", fileName: "f", mimeType: "a/b\r\nX: 1") },
            { $0.appendPart(withFileData: Data(), name: "f", fileName: "f", mimeType: "a\nb") },
            { $0.appendPart(with: InputStream(data: Data()), name: "f", fileName: "f", length: -1, mimeType: "a/b") },
        ]

        for build in builders { #expect(serializer.formFailure(build)?.code == -1000) }
        let error = serializer.formFailure { form in
            for _ in 0..<2 { form.appendPart(with: nil, name: "f", fileName: "f", length: .max, mimeType: "a/b") }
        }
        #expect(error?.code == -1103)
    }

    // MARK: - Throttling

    @Test("16 8.4 a throttle becomes the request's rate, and applies to copies of its stream")
    func throttle() throws {
        let request = try serializer.form(["a": "b"]) { form in
            form.throttleBandwidth(
                withPacketSize: HTTPRequestSerializer.suggested3GPacketSize,
                delay: HTTPRequestSerializer.suggested3GDelay
            )
        }

        #expect(request.maximumBytesSentPerSecond == 81_920)
        for stream in [request.form, request.copiedForm] {
            #expect(stream?.numberOfBytesInPacket == 16_384 && stream?.delay == 0.2)
        }
        #expect(try serializer.form(["a": "b"]).maximumBytesSentPerSecond == nil)
    }

    @Test(
        "throttles without a limit, or with an invalid one, slow nothing down",
        arguments: [
            (UInt(100), 0.0, nil), (100, -1, nil), (100, .nan, nil), (100, .infinity, nil), (.max, 1, nil),
            (0, 2, 1), (100, 1e-300, .max), (1, 1e9, 1),
        ] as [(UInt, TimeInterval, Int?)]
    )
    func oddThrottles(size: UInt, delay: TimeInterval, rate: Int?) throws {
        let request = try serializer.form(["a": "b"]) { $0.throttleBandwidth(withPacketSize: size, delay: delay) }

        #expect(request.maximumBytesSentPerSecond == rate)
        #expect(request.formText.contains("\r\n\r\nb\r\n"))
    }
}
