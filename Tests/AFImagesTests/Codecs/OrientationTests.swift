@testable import AFImages

@Suite struct OrientationTests {
    private static let sizes = [(1, 1), (3, 2), (2, 3), (33, 70), (64, 31), (97, 1)]

    @Test("T-IMG-17 PNG files are shown as their Exif data say", arguments: 1...8, [true, false])
    func png(_ orientation: Int, _ isBigEndian: Bool) throws {
        for (width, height) in Self.sizes {
            let picture = Picture.distinct(width, height)
            var file = PNGFile(picture)
            file.before = [("eXIf", exif(orientation, isBigEndian: isBigEndian))]
            var behind = PNGFile(picture)
            behind.after = file.before

            #expect(try Picture(Image.decode(file.data)) == picture.turned(orientation))
            #expect(try Picture(Image.decode(behind.data)) == picture.turned(orientation))
        }
    }

    @Test("T-IMG-17 JPEG files are shown as their Exif data say", arguments: 1...8)
    func jpeg(_ orientation: Int) throws {
        let plain = try JPEGFile.data(.smooth(45, 38))
        let data = JPEGFile.adding(exif: exif(orientation, isBigEndian: orientation % 2 == 0), to: plain)

        let image = try Image.decode(data, scale: 2)

        #expect(try Picture(image) == Picture(Image.decode(plain)).turned(orientation))
        #expect((image.scale, image.format, image.alpha) == (2, .jpeg, .opaque))
    }

    @Test("T-IMG-17 WebP files are shown as their Exif data say", arguments: 1...8)
    func webp(_ orientation: Int) throws {
        let picture = Picture.distinct(14, 9)
        let still = WebPFile.chunks(try WebPFile.data(picture))
        for mark in [[], Array("Exif\0\0".utf8)] {
            let chunk = WebPFile.chunk("EXIF", mark + exif(orientation))
            let data = WebPFile.container(WebPFile.extended(flags: 8, 14, 9) + still + chunk)
            #expect(try Picture(Image.decode(data)) == picture.turned(orientation))
        }
    }

    @Test func `a picture is left as it is stored if that is wanted`() throws {
        var file = PNGFile(.distinct(3, 2))
        file.before = [("eXIf", exif(6))]
        var options = ImageDecodingOptions()
        options.appliesOrientation = false

        let header = try EncodedImage(file.data).header

        #expect(try Picture(Image.decode(file.data, options: options)) == .distinct(3, 2))
        #expect(header.storedSize == PixelSize(width: 3, height: 2))
        #expect(header.shownSize == PixelSize(width: 2, height: 3))
        #expect(header.orientation == .right)
    }

    @Test("T-IMG-17 an unknown orientation is ignored", arguments: [0, 9, 255, 65_535])
    func unknown(_ orientation: Int) throws {
        var file = PNGFile(.distinct(3, 2))
        file.before = [("eXIf", exif(orientation))]

        #expect(try EncodedImage(file.data).header.orientation == .up)
    }

    @Test func `T-IMG-17 Exif data that are cut off or changed anywhere say something or nothing`() throws {
        func read(_ bytes: [UInt8]) -> ImageOrientation? {
            bytes.withUnsafeBytes { ImageOrientation(exif: ByteReader($0)) }
        }
        for isBigEndian in [true, false] {
            let good = exif(7, isBigEndian: isBigEndian)
            #expect(read(good) == .rightMirrored)
            for index in good.indices {
                // The link to the next directory may be missing.
                #expect(read(Array(good[..<index])) == (index < good.count - 4 ? nil : .rightMirrored))
                for byte in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var changed = good
                    changed[index] = byte
                    _ = read(changed)
                }
            }
        }
    }

    @Test func `the first Exif data of a JPEG file count`() throws {
        let plain = try JPEGFile.data(.smooth(20, 10))
        let twice = JPEGFile.adding(exif: exif(3), to: JPEGFile.adding(exif: exif(6), to: plain))
        let other = JPEGFile.adding(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8), to: twice)

        #expect(try EncodedImage(other).header.orientation == .down)
    }
}
