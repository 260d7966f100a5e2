/// What follows the fixed part of a message, or is nested in an attribute.
package struct NetlinkAttributes {
    private static let headerSize = 4
    /// The two highest bits say how the value is to be understood, not what it is.
    private static let typeMask: UInt16 = 0x3FFF

    private var values: [UInt16: ArraySlice<UInt8>] = [:]
    /// Whether everything could be read.
    package let isWhole: Bool

    package init(_ bytes: ArraySlice<UInt8>) {
        var rest = bytes
        while let (type, length) = NetlinkAttributes.first(in: rest) {
            values[type & NetlinkAttributes.typeMask] = rest.prefix(length).dropFirst(NetlinkAttributes.headerSize)
            rest = rest.dropFirst(NetlinkDatagram.aligned(length))
        }
        isWhole = rest.isEmpty
    }

    private static func first(in bytes: ArraySlice<UInt8>) -> (UInt16, Int)? {
        guard let length = bytes.number(at: 0, as: UInt16.self).map({ Int($0) }),
            let type = bytes.number(at: 2, as: UInt16.self), length >= headerSize, length <= bytes.count
        else { return nil }
        return (type, length)
    }

    package subscript(_ type: UInt16) -> ArraySlice<UInt8>? { values[type] }

    /// Text up to its NUL, or to the end of the value.
    func text(_ type: UInt16) -> String? { values[type].map { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) } }
}
