/// Width and height in pixels.
public struct PixelSize: Sendable, Hashable, Codable, CustomStringConvertible {
    /// How many pixels there are in a row.
    public var width: Int
    /// How many rows there are.
    public var height: Int

    /// A width and a height in pixels.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// As `850×300`.
    public var description: String { "\(width)×\(height)" }

    var exchanged: PixelSize { PixelSize(width: height, height: width) }
}
