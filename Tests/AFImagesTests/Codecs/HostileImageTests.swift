/// Files that are cut off or damaged: errors, and nothing else.
@Suite struct HostileImageTests {
    /// Small, so that a damaged length costs no time.
    private static let options: ImageDecodingOptions = {
        var options = ImageDecodingOptions()
        options.maximumPixels = 1 << 18
        options.maximumDecodedBytes = 8 << 20
        return options
    }()

    /// `AFNET_IMAGE_MUTATIONS` sets how many there are of each file: a million take some minutes.
    private static let mutations =
        ProcessInfo.processInfo.environment["AFNET_IMAGE_MUTATIONS"].flatMap { Int($0) } ?? 1_500

    private static let refusals: [ImageError.Reason?] = [.truncated, .malformed, .empty, .unknownFormat]

    private func visit(_ data: Data) -> Image? {
        guard let file = try? EncodedImage(data, options: Self.options) else { return nil }
        if file.header.frameCount > 1 { _ = try? file.decodeFrames() }
        guard let image = try? file.decode() else { return nil }
        #expect(image.withUnsafeBytes { $0.count } == image.byteCount)
        #expect(image.width > 0 && image.height > 0)
        return image
    }

    @Test func `T-IMG-04 a file cut off anywhere is an error, in each format`() throws {
        for (name, data) in try SampleFiles.all() {
            #expect(visit(data) != nil, "\(name)")
            for length in 0..<data.count {
                let outcome = reason { try Image.decode(data.prefix(length), options: Self.options) }
                #expect(
                    Self.refusals.contains(outcome),
                    "\(name) of \(length) bytes: \(outcome.map { "\($0)" } ?? "decoded")"
                )
            }
        }
    }

    @Test func `T-IMG-04 all frames of a file cut off anywhere are an error`() throws {
        for (name, data) in try SampleFiles.all() where name.hasSuffix("animation") {
            for length in 0..<data.count {
                let file = try? EncodedImage(data.prefix(length), options: Self.options)
                #expect((try? file?.decodeFrames()) == nil, "\(name) of \(length) bytes")
            }
        }
    }

    @Test("T-IMG-06 damaged files give an error or a picture, from seeds", arguments: 1...4 as ClosedRange<UInt64>)
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var decoded = 0
        for (name, data) in try SampleFiles.all() {
            for round in 0..<(Self.mutations / 4) {
                var file = mutated([UInt8](data), &generator)
                // Otherwise few get behind the checksums.
                if name.hasPrefix("PNG") && round % 2 == 0 { file = PNGFile.withChecksums(file) }
                if visit(file) != nil { decoded += 1 }
            }
        }

        // Otherwise they are too damaged to reach the decoding of pixels.
        #expect(decoded > Self.mutations / 10)
    }

    @Test("T-IMG-06 bytes of no meaning behind a signature give an error", arguments: 1...4 as ClosedRange<UInt64>)
    func noise(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for (_, data) in try SampleFiles.all() {
            for _ in 0..<50 {
                let count = Int.random(in: 0..<400, using: &generator)
                let noise = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                _ = visit(data.prefix(Int.random(in: 4..<40, using: &generator)) + noise)
            }
        }
    }

    private func mutated(_ original: [UInt8], _ generator: inout SeededGenerator) -> Data {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<7, using: &generator) {
            case 0, 1: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes[at] = [0, 0xFF, 0x80, 0x7F, 1][Int.random(in: 0..<5, using: &generator)]
            case 3: bytes[at] = UInt8.random(in: 0...255, using: &generator)
            case 4: bytes.remove(at: at)
            case 5: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: at)
            default:
                // A piece of the file in another place of it.
                let from = Int.random(in: 0..<bytes.count, using: &generator)
                let piece = bytes[from..<min(from + Int.random(in: 1...8, using: &generator), bytes.count)]
                bytes.replaceSubrange(at..<min(at + piece.count, bytes.count), with: Array(piece))
            }
        }
        return Data(bytes)
    }
}
