@testable import AFSerialization

@Suite("Streams of multipart forms")
struct MultipartBodyStreamTests {
    private let serializer = HTTPRequestSerializer()
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func file(_ content: Data) throws -> URL {
        let url = folder.url.appendingPathComponent("file")
        try content.write(to: url)
        return url
    }

    /// A form with data, a file and a field, but no stream: it can be read again.
    private func form(_ sizes: [Int]) throws -> MultipartBodyStream {
        let file = try file(Data((0..<sizes[0]).map { UInt8(truncatingIfNeeded: $0 * 7) }))
        let request = try serializer.form { form in
            try form.appendPart(withFileURL: file, name: "file")
            for size in sizes.dropFirst() {
                form.appendPart(withFormData: Data(repeating: 0x78, count: size), name: "n")
            }
        }
        return try #require(request.form)
    }

    private func copy(_ stream: MultipartBodyStream) throws -> MultipartBodyStream {
        try #require(stream.copy() as? MultipartBodyStream)
    }

    private func stream(_ source: InputStream, length: Int64) throws -> MultipartBodyStream {
        let request = try serializer.form { form in
            form.appendPart(withFormData: Data("before".utf8), name: "a")
            form.appendPart(with: source, name: "s", fileName: "s", length: length, mimeType: "x/y")
        }
        return try #require(request.form)
    }

    // MARK: - Reading

    @Test("14 requests: any buffer, even of one byte, gives the same bytes, the last boundary included, T-REQ-20")
    func anyBuffer() throws {
        let stream = try form([300, 0, 5, 100])
        let whole = try copy(stream).readOnce(pieces: 1 << 20)

        #expect(Int64(whole.count) == stream.contentLength)
        #expect(whole.suffix(4 + stream.boundary.utf8.count + 4) == Data("\r\n--\(stream.boundary)--\r\n".utf8))
        for pieces in 1...whole.count + 1 {
            #expect(try copy(stream).readOnce(pieces: pieces) == whole, "\(pieces)")
        }
    }

    @Test("14 requests: random forms, read with random buffers, are as long as they say", arguments: 0..<40)
    func random(seed: UInt64) throws {
        var dice = SplitMix(seed: seed)
        let stream = try form(
            (0..<Int.random(in: 1...6, using: &dice)).map { _ in Int.random(in: 0...2000, using: &dice) }
        )
        let whole = try copy(stream).readOnce()
        let other = try copy(stream)
        var read = Data()

        other.open()
        while true {
            let size = Int.random(in: 1...500, using: &dice)
            var buffer = [UInt8](repeating: 0xAA, count: size + 8)
            let count = other.read(&buffer, maxLength: size)
            // Never more than requested, and as much as there is.
            #expect(buffer[size...].allSatisfy { $0 == 0xAA })
            #expect(count == min(size, whole.count - read.count))
            guard count > 0 else { break }
            read += buffer[..<count]
        }

        #expect(read == whole && Int64(whole.count) == stream.contentLength)
    }

    @Test("packets bound each read")
    func packets() throws {
        let request = try serializer.form(["a": String(repeating: "x", count: 100)]) {
            $0.throttleBandwidth(withPacketSize: 10, delay: 5)
        }
        let stream = try #require(request.form)
        var buffer = [UInt8](repeating: 0, count: 50)

        stream.open()

        #expect(stream.read(&buffer, maxLength: 50) == 10)
        #expect(stream.read(&buffer, maxLength: 3) == 3)
    }

    @Test("14 requests: a stream is not open, open, closed; and read before or after, it gives nothing")
    func statuses() throws {
        let stream = try form([10])
        var buffer = [UInt8](repeating: 0, count: 5)

        #expect(stream.streamStatus == .notOpen && !stream.hasBytesAvailable)
        #expect(stream.read(&buffer, maxLength: 5) == 0)
        stream.open()
        #expect(stream.streamStatus == .open && stream.hasBytesAvailable)
        #expect(stream.read(&buffer, maxLength: 5) == 5 && buffer == Array("--Bou".utf8))
        stream.open()
        #expect(stream.read(&buffer, maxLength: 5) == 5 && buffer == Array("ndary".utf8))
        #expect(stream.read(&buffer, maxLength: 0) == 0)
        _ = stream.readAll()
        #expect(stream.streamStatus == .open && stream.hasBytesAvailable && stream.streamError == nil)
        #expect(stream.read(&buffer, maxLength: 5) == 0)
        stream.close()
        #expect(stream.streamStatus == .closed && !stream.hasBytesAvailable)
        stream.open()
        #expect(stream.streamStatus == .closed && stream.read(&buffer, maxLength: 5) == 0)
        stream.close()
    }

    @Test("what Foundation may ask of a stream is answered")
    func foundation() throws {
        let stream: InputStream = try form([10])
        var pointer: UnsafeMutablePointer<UInt8>?
        var count = 0

        stream.schedule(in: .current, forMode: .default)
        stream.remove(from: .current, forMode: .default)

        #expect(!stream.getBuffer(&pointer, length: &count))
        #expect(stream.property(forKey: .fileCurrentOffsetKey) == nil)
        #expect(!stream.setProperty(nil, forKey: .fileCurrentOffsetKey))
    }

    @Test("a copy starts at the beginning, whatever was read, and has the same length and boundary")
    func copies() throws {
        let stream = try form([1000, 10])
        var buffer = [UInt8](repeating: 0, count: 700)
        stream.open()
        _ = stream.read(&buffer, maxLength: 700)

        let copy = try copy(stream)

        #expect(copy !== stream && copy.streamStatus == .notOpen)
        #expect(copy.contentLength == stream.contentLength && copy.boundary == stream.boundary)
        let whole = copy.readOnce()
        #expect(whole.starts(with: buffer) && whole.dropFirst(700) == stream.readAll())
    }

    @Test("forms made of other forms: a stream is a part like any other")
    func nested() throws {
        let inner = try form([20])
        let outer = try stream(try copy(inner), length: inner.contentLength)

        #expect(outer.readOnce().range(of: try copy(inner).readOnce()) != nil)
    }

    // MARK: - Errors

    @Test(
        "16 8.4 a stream that is not as long as announced is an error with both numbers, T-REQ-20",
        arguments: [(100, 99, "only 99"), (100, 101, "at least 101"), (0, 1, "at least 1"), (1, 0, "only 0")]
    )
    func lengths(announced: Int, actual: Int, words: String) throws {
        for isFoundations in [true, false] {
            let content = Data(count: actual)
            let stream = try stream(
                isFoundations ? InputStream(data: content) : FormSource(content),
                length: Int64(announced)
            )

            let read = stream.readOnceLeavingOpen()

            #expect(stream.streamStatus == .error && !stream.hasBytesAvailable)
            let error = try #require(stream.streamError.map { $0 as NSError })
            #expect(error.domain == HTTPRequestSerializer.errorDomain && error.code == -1021)
            let text = error.localizedDescription
            #expect(text.contains("\(announced) bytes") && text.contains(words) && text.contains("\"s\""), "\(text)")
            #expect(Int64(read.count) < stream.contentLength)
            var byte: UInt8 = 0
            #expect(stream.read(&byte, maxLength: 1) == 0)
        }
    }

    @Test("14 requests: the error of a part's stream is the underlying one; what came before it is returned")
    func failures() throws {
        for end in [FormSource.End.failure, .refusal, .boast] {
            let source = FormSource(Data(count: end == .refusal ? 0 : 20), end)
            let stream = try stream(source, length: 50)

            let read = stream.readOnceLeavingOpen()

            #expect(stream.streamStatus == .error)
            let error = try #require(stream.streamError.map { $0 as NSError })
            #expect(error.localizedDescription.contains("the part \"s\""))
            #expect(end == .boast || error.userInfo[NSUnderlyingErrorKey] is FormSource.Broken)
            #expect(read.range(of: Data("before".utf8)) != nil)
            #expect(source.closings > 0)
        }
    }

    @Test("nil in place of a stream is an empty one")
    func noStream() throws {
        let request = try serializer.form {
            $0.appendPart(with: nil, name: "s", fileName: "s", length: 0, mimeType: "x/y")
        }

        #expect(request.formText.hasSuffix("Content-Type: x/y\r\n\r\n\r\n--B--\r\n"))
        let wrong = try serializer.form {
            $0.appendPart(with: nil, name: "s", fileName: "s", length: 3, mimeType: "x/y")
        }
        let stream = try #require(wrong.form)
        _ = stream.readOnceLeavingOpen()
        #expect(stream.streamError?.localizedDescription.contains("only 0") == true)
    }

    @Test("16 8.4 a stream is read once: later copies fail at once, with the reason")
    func sharedStream() throws {
        let first = try stream(InputStream(data: Data("abc".utf8)), length: 3)
        let second = try copy(first)
        let third = try copy(first)

        #expect(second.readOnce().count == Int(first.contentLength))
        for late in [first, third] {
            late.open()
            #expect(late.streamStatus == .error)
            #expect(late.streamError?.localizedDescription.contains("cannot be read twice") == true)
        }
    }

    @Test("a stream that is open already is read on")
    func openStream() throws {
        let source = InputStream(data: Data("abc".utf8))
        source.open()
        var byte: UInt8 = 0
        #expect(source.read(&byte, maxLength: 1) == 1)

        #expect(try stream(source, length: 2).readOnce().range(of: Data("\r\n\r\nbc\r\n".utf8)) != nil)
    }

    @Test(
        "T-REQ-20 a file that has grown, shrunk or gone since it was appended is an error",
        arguments: ["grown", "shrunk", "gone"]
    )
    func changedFile(how: String) throws {
        let url = try file(Data(count: 1000))
        let request = try serializer.form { try $0.appendPart(withFileURL: url, name: "f") }
        switch how {
        case "grown": try Data(count: 1001).write(to: url)
        case "shrunk": try Data(count: 999).write(to: url)
        default: try FileManager.default.removeItem(at: url)
        }

        let stream = try #require(request.form)
        let read = stream.readOnceLeavingOpen()

        #expect(stream.streamStatus == .error && Int64(read.count) < stream.contentLength)
        let text = stream.streamError?.localizedDescription ?? ""
        #expect(text.contains("the part \"f\""), "\(text)")
        #expect(text.contains(how == "grown" ? "at least 1001" : how == "shrunk" ? "only 999" : "failed"), "\(text)")
    }

    @Test("a file that is written to while it is sent is an error, also if its length stays", arguments: [true, false])
    func writtenTo(isLonger: Bool) throws {
        let url = try file(Data(count: 1000))
        let old = Date(timeIntervalSinceNow: -1000)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: url.path)
        let request = try serializer.form { try $0.appendPart(withFileURL: url, name: "f") }
        let stream = try #require(request.form)
        var buffer = [UInt8](repeating: 0, count: 500)
        stream.open()
        #expect(stream.read(&buffer, maxLength: 500) == 500)

        let handle = try FileHandle(forWritingTo: url)
        try handle.seek(toOffset: isLonger ? 1000 : 10)
        try handle.write(contentsOf: Data([1]))
        try handle.close()
        _ = stream.readAll()

        let text = stream.streamError?.localizedDescription ?? ""
        #expect(stream.streamStatus == .error)
        #expect(text.contains(isLonger ? "at least 1001" : "was changed while it was sent"), "\(text)")
    }

    @Test("another file of the same name does not disturb the one that is being sent")
    func replacedFile() throws {
        let url = try file(Data(repeating: 1, count: 1000))
        let request = try serializer.form { try $0.appendPart(withFileURL: url, name: "f") }
        let stream = try #require(request.form)
        var buffer = [UInt8](repeating: 0, count: 500)
        stream.open()
        #expect(stream.read(&buffer, maxLength: 500) == 500)

        try FileManager.default.removeItem(at: url)
        try Data(repeating: 2, count: 10).write(to: url)
        let rest = stream.readAll()

        #expect(Int64(500 + rest.count) == stream.contentLength && stream.streamError == nil)
        #expect(!rest.contains(2))
    }

    @Test("a form that is read no further closes its sources")
    func abandoned() throws {
        let source = FormSource(Data(count: 100))
        let stream = try stream(source, length: 100)
        var buffer = [UInt8](repeating: 0, count: 400)
        stream.open()
        let first = stream.read(&buffer, maxLength: 260)

        stream.close()

        #expect(first == 260 && source.closings == 1)
    }
}

extension InputStream {
    /// Opens and reads, and leaves the status for the test.
    fileprivate func readOnceLeavingOpen() -> Data {
        open()
        return readAll(pieces: 64)
    }
}
