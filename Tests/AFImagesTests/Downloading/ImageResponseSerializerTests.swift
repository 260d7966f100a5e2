@Suite struct ImageResponseSerializerTests {
    private let png = PNGFile(.distinct(5, 3)).data
    private let serializer = ImageResponseSerializer()

    private func makeResponse(_ status: Int = 200, type: String? = "image/png") throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://example.com/thing"))
        let fields = type.map { ["Content-Type": $0] }
        let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        return try #require(response)
    }

    private func archived(_ serializer: ImageResponseSerializer) throws -> ImageResponseSerializer {
        let data = try NSKeyedArchiver.archivedData(withRootObject: serializer, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: ImageResponseSerializer.self, from: data))
    }

    // MARK: - 13.6

    @Test func `13.6 image: a copy has the sets, the flag and the scale`() throws {
        serializer.acceptableStatusCodes = IndexSet(integer: 100)
        serializer.acceptableContentTypes = ["test/type"]
        serializer.automaticallyInflatesResponseImage = false
        serializer.imageScale = 3
        serializer.requiresMatchingContentType = true
        serializer.decodingOptions.maximumPixels = 7

        let copy = try #require(serializer.copy() as? ImageResponseSerializer)

        #expect(copy !== serializer)
        #expect(copy.acceptableStatusCodes == IndexSet(integer: 100))
        #expect(copy.acceptableContentTypes == ["test/type"])
        #expect(!copy.automaticallyInflatesResponseImage)
        #expect(copy.imageScale == 3)
        #expect(copy.requiresMatchingContentType)
        #expect(copy.decodingOptions == serializer.decodingOptions)
    }

    @Test func `13.6 image: it supports secure coding`() {
        #expect(ImageResponseSerializer.supportsSecureCoding)
        #expect(AFImageResponseSerializer.serializer().imageScale == 1)
    }

    @Test func `13.6 image: an archive keeps what a new one has`() throws {
        let read = try archived(serializer)

        #expect(read.automaticallyInflatesResponseImage)
        #expect(read.imageScale == 1)
        #expect(!read.requiresMatchingContentType)
        #expect(read.decodingOptions == ImageDecodingOptions())
        #expect(read.acceptableContentTypes == serializer.acceptableContentTypes)
    }

    @Test func `13.6 image: an archive keeps another flag and scale`() throws {
        serializer.automaticallyInflatesResponseImage = false
        serializer.imageScale = 2
        serializer.requiresMatchingContentType = true
        serializer.decodingOptions.targetSize = PixelSize(width: 3, height: 4)
        serializer.decodingOptions.maximumFrames = 5

        let read = try archived(serializer)

        #expect(!read.automaticallyInflatesResponseImage)
        #expect(read.imageScale == 2)
        #expect(read.requiresMatchingContentType)
        #expect(read.decodingOptions == serializer.decodingOptions)
        serializer.imageScale = .nan
        #expect(try archived(serializer).imageScale == 0)
    }

    @Test func `foreign archives are refused, or lack values`() throws {
        for json in ["{}", "{\"imageScale\": \"x\"}", "[]", "{\"options\": {\"maximumPixels\": 3}}", "\u{0}"] {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            archiver.encodeBytes(Array(json.utf8), length: json.utf8.count, forKey: "AF.image")
            let coder = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)

            let serializer = ImageResponseSerializer(coder: coder)

            #expect((serializer != nil) == json.hasPrefix("{}") || json.contains("options"), "\(json)")
            if json.contains("options") { #expect(serializer?.decodingOptions.maximumPixels == 3) }
        }
    }

    @Test func `13.6 compound: of an image and a JSON serializer that of the body is asked`() throws {
        let compound = CompoundResponseSerializer.compoundSerializer(
            withResponseSerializers: [ImageResponseSerializer(), JSONResponseSerializer()])
        let body = Data(#"{"foo":"bar"}"#.utf8)

        let (object, error) = compound.serialize(try makeResponse(type: "application/json"), data: body)
        let (picture, _) = compound.serialize(try makeResponse(), data: png)
        let copy = try #require(compound.copy() as? CompoundResponseSerializer)

        #expect((object as? [String: String]) == ["foo": "bar"])
        #expect(error == nil)
        #expect((picture as? Image)?.width == 5)
        #expect(copy.responseSerializers.first is ImageResponseSerializer)
        #expect(copy.responseSerializers.count == 2)
    }

    @Test func `13.6 compound: an archive keeps an image serializer among its members`() throws {
        let compound = CompoundResponseSerializer.compoundSerializer(
            withResponseSerializers: [ImageResponseSerializer(), JSONResponseSerializer()])
        let data = try NSKeyedArchiver.archivedData(withRootObject: compound, requiringSecureCoding: true)

        let read = try NSKeyedUnarchiver.unarchivedObject(ofClass: CompoundResponseSerializer.self, from: data)

        #expect(read?.responseSerializers.first is ImageResponseSerializer)
    }

    // MARK: - 9.7

    @Test(
        "9.7 the types of pictures are accepted, and WebP",
        arguments: [
            "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp",
            "image/x-bmp",
            "image/x-xbitmap", "image/x-win-bitmap", "image/webp",
        ]
    )
    func types(_ type: String) throws {
        #expect(try serializer.validate(makeResponse(type: type), data: png))
        #expect(serializer.acceptableContentTypes?.count == 11)
    }

    @Test func `9.7 another type is an error, and nothing is decoded`() throws {
        let (object, error) = ImageResponseSerializer().serialize(try makeResponse(type: "text/html"), data: png)

        #expect(object == nil)
        #expect((error as NSError?)?.code == -1016)
    }

    @Test func `9.7 a picture is decoded, at the scale that is set`() throws {
        serializer.imageScale = 2

        let (object, error) = serializer.serialize(try makeResponse(), data: png)
        let image = try #require(object as? Image)

        #expect(error == nil)
        #expect(Picture(image) == .distinct(5, 3))
        #expect(image.size == CGSize(width: 2.5, height: 1.5))
        #expect(image.format == .png)
    }

    @Test func `9.7 a picture that is not to be inflated is the file with its header`() throws {
        serializer.automaticallyInflatesResponseImage = false
        serializer.imageScale = 2

        let (object, error) = serializer.serialize(try makeResponse(), data: png)
        let file = try #require(object as? EncodedImage)

        #expect(error == nil)
        #expect(file.data == png)
        #expect(file.header.shownSize == PixelSize(width: 5, height: 3))
        #expect(try file.decode() == Image.decode(png, scale: 2))
    }

    @Test("9.7 an empty body is nothing", arguments: [nil, Data()])
    func empty(_ body: Data?) throws {
        let (object, error) = ImageResponseSerializer().serialize(try makeResponse(204, type: nil), data: body)

        #expect(object == nil)
        #expect(error == nil)
    }

    @Test func `16 9.7 what cannot be decoded is an error that says why`() throws {
        for (body, reason) in [
            (Data("<html>".utf8), .unknownFormat), (png.dropLast(), .truncated), (Data("II*\0abc".utf8), .unsupported),
        ] as [(Data, ImageError.Reason)] {
            let response = try makeResponse()
            let (object, error) = ImageResponseSerializer().serialize(response, data: body)
            let failure = try #require(error as NSError?)

            #expect(object == nil)
            #expect(failure.domain == HTTPResponseSerializer.errorDomain)
            #expect(failure.code == NSURLErrorCannotDecodeRawData)
            let cause = failure.userInfo[HTTPResponseSerializer.decodingErrorKey] as? ImageError
            #expect(cause?.reason == reason)
            #expect(failure.localizedDescription == "Request failed: \(cause?.text ?? "")")
            #expect(failure.userInfo[HTTPResponseSerializer.failingResponseErrorKey] as? HTTPURLResponse === response)
            #expect(failure.userInfo[HTTPResponseSerializer.failingResponseDataErrorKey] as? Data == body)
        }
    }

    @Test func `9.7 a picture comes beside the error of its status, whose error is beneath that of the decoder`() throws
    {
        let good = serializer.serialize(try makeResponse(404), data: png)
        let bad = serializer.serialize(try makeResponse(500), data: png.dropLast())

        #expect((good.object as? Image)?.width == 5)
        #expect((good.error as NSError?)?.code == -1011)
        #expect(bad.object == nil)
        #expect(((bad.error as NSError?)?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -1011)
    }

    @Test func `T-IMG-05 the first bytes decide, and a type that says otherwise is an error if that is wanted`() throws
    {
        let mislabelled = serializer.serialize(try makeResponse(type: "image/jpeg"), data: png)
        serializer.requiresMatchingContentType = true
        let refused = serializer.serialize(try makeResponse(type: "image/jpeg"), data: png)
        let matching = serializer.serialize(try makeResponse(), data: png)

        #expect((mislabelled.object as? Image)?.format == .png)
        #expect(refused.object == nil)
        let cause = (refused.error as NSError?)?.userInfo[HTTPResponseSerializer.decodingErrorKey] as? ImageError
        #expect(cause?.reason == .mismatch)
        #expect(matching.object is Image)
    }

    @Test("T-IMG-18 with an invalid scale every picture is an error", arguments: [0, -1, .nan, .infinity, 1e9])
    func scales(_ scale: Double) throws {
        serializer.imageScale = scale

        let (object, error) = serializer.serialize(try makeResponse(), data: png)

        #expect(object == nil)
        let cause = (error as NSError?)?.userInfo[HTTPResponseSerializer.decodingErrorKey] as? ImageError
        #expect(cause?.reason == .scale)
    }

    @Test func `T-IMG-01 the limits of a serializer hold`() throws {
        serializer.decodingOptions.maximumPixels = 14

        let (object, error) = serializer.serialize(try makeResponse(), data: png)

        #expect(object == nil)
        #expect((error as NSError?)?.localizedDescription.contains("maximumPixels") == true)
    }

    // MARK: - With a manager

    @Test func `a manager hands out pictures`() async throws {
        let server = try TestServer()
        server.route("GET", "/picture") { [png] _ in
            .data(png, type: "image/png")
        }
        let manager = HTTPSessionManager(baseURL: server.url("/"), sessionConfiguration: .ephemeral)
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        manager.responseSerializer = ImageResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "pictures")

        let image = await withCheckedContinuation { (continuation: CheckedContinuation<Image?, Never>) in
            let request = URLRequest(url: server.url("/picture"))
            let task = manager.dataTask(with: request, uploadProgress: nil, downloadProgress: nil) { _, object, _ in
                continuation.resume(returning: object as? Image)
            }
            task.resume()
        }

        #expect(image.map { Picture($0) } == .distinct(5, 3))
    }
}
