@Suite struct ImageFormatTests {
    @Test func `each format is told by its first bytes`() throws {
        for (name, data) in try SampleFiles.all() {
            let format = try #require(ImageFormat.sniff(data))
            #expect(name.hasPrefix(format.name))
            #expect(ImageFormat.sniff(data.prefix(16)) == format)
            // A slice has the indices of the whole.
            #expect(ImageFormat.sniff((Data(count: 3) + data).dropFirst(3)) == format)
            #expect(try Image.decode((Data(count: 3) + data).dropFirst(3)) == Image.decode(data))
        }
    }

    @Test(
        "formats that are not decoded are recognized all the same",
        arguments: [
            ("BM\u{9}\u{9}\u{9}\u{9}\0\0\0\0", .bmp), ("\0\0\u{1}\0\u{1}\0", .ico), ("II*\0", .tiff), ("MM\0*", .tiff),
            ("\0\0\0\u{20}ftypheic", .heif), ("\0\0\0\u{20}ftypmif1", .heif), ("\0\0\0\u{20}ftypavif", .avif),
            ("\0\0\0\u{C}JXL \r\n", .jpegXL), ("<svg xmlns=", .svg),
        ] as [(String, ImageFormat)]
    )
    func others(_ start: String, _ format: ImageFormat) {
        let data = Data(start.utf8)

        let error = #expect(throws: ImageError.self) { try Image.decode(data) }
        #expect(ImageFormat.sniff(data) == format)
        #expect(error?.reason == .unsupported)
        #expect(error?.format == format)
        #expect(error?.text.contains("PNG") == true)
    }

    @Test(
        "T-IMG-05 what is no picture is described, not decoded",
        arguments: [
            ("<!DOCTYPE html><html>", "error page"), ("{\"error\": 1}", "JSON"), ("hello", "68 65 6C 6C 6F"),
            ("\u{1}", "01"),
            ("GIF90a", "47 49 46"), ("RIFF\0\0\0\0WAVE", "52 49"), ("BMW is a car", "42 4D"),
        ]
    )
    func noPictures(_ text: String, _ words: String) {
        let error = #expect(throws: ImageError.self) { try Image.decode(Data(text.utf8)) }

        #expect(ImageFormat.sniff(Data(text.utf8)) == nil)
        #expect(error?.reason == .unknownFormat)
        #expect(error?.text.contains(words) == true)
        #expect(error?.localizedDescription == error?.text)
    }

    @Test func `T-IMG-05 a picture behind other bytes is none`() throws {
        let picture = PNGFile(.distinct(2, 2)).data

        #expect(ImageFormat.sniff(Data("hi".utf8) + picture) == nil)
        #expect(reason { try Image.decode(Data(count: 33) + picture) } == .unknownFormat)
    }

    @Test func `any first bytes are handled without harm`() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...40, using: &generator)
            let starts: [[UInt8]] = [
                [], [0x89], [0xFF, 0xD8], Array("GIF8".utf8), Array("RIFF".utf8), [0, 0], [0, 0, 0, 12],
            ]
            let start = starts[Int.random(in: 0..<starts.count, using: &generator)]
            let data = Data(start + (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
            _ = ImageFormat.sniff(data)
        }
    }
}
