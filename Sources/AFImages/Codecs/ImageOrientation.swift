/// How a picture is stored, as cameras write it down: the numbers are those of Exif.
public enum ImageOrientation: Int, Sendable, Hashable, CaseIterable {
    /// As it is shown.
    case up = 1
    /// Left and right exchanged.
    case upMirrored = 2
    /// Upside down.
    case down = 3
    /// Top and bottom exchanged.
    case downMirrored = 4
    /// The first row is the left side, from the top.
    case leftMirrored = 5
    /// The first row is the right side, from the top: to be turned clockwise.
    case right = 6
    /// The first row is the right side, from the bottom.
    case rightMirrored = 7
    /// The first row is the left side, from the bottom: to be turned anticlockwise.
    case left = 8

    /// Whether what is stored as a row is shown as a column.
    public var exchangesSides: Bool { rawValue >= 5 }
}

extension ImageOrientation {
    /// That of Exif data, which is a TIFF file without pictures; nil if it says none, or cannot be read.
    init?(exif: ByteReader) {
        var header = exif
        let isBigEndian: Bool
        if header.take("MM") {
            isBigEndian = true
        } else if header.take("II") {
            isBigEndian = false
        } else {
            return nil
        }
        func short(_ reader: inout ByteReader) -> Int? { isBigEndian ? reader.big16() : reader.little16() }
        func long(_ reader: inout ByteReader) -> Int? { isBigEndian ? reader.big32() : reader.little32() }

        var directory = exif
        guard short(&header) == 42, let start = long(&header), directory.skip(start), let count = short(&directory)
        else { return nil }
        for _ in 0..<count {
            guard var entry = directory.part(12) else { return nil }
            guard short(&entry) == 0x0112 else { continue }
            guard short(&entry) == 3, long(&entry) == 1, let value = short(&entry) else { return nil }
            self.init(rawValue: value)
            return
        }
        return nil
    }
}
