import AFNetworking
import Foundation

@testable import AFURLSession

extension FuzzTarget {
    /// Bodies.
    static let contents = [gzip, deflate, json, propertyList]

    private static let gzip = FuzzTarget(
        "gzip",
        longest: 16 << 10,
        seeds: [
            [
                0, 0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0,
                0, 0,
            ],
            [1, 9, 0x1F, 0x8B, 8, 0x1C, 0, 0, 0, 0, 0, 3, 2, 0, 1, 2, 0x61, 0, 0x62, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ]
    ) { try inflate($0, .gzip) }

    private static let deflate = FuzzTarget(
        "deflate",
        longest: 16 << 10,
        seeds: [
            [0, 0x78, 0x9C, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 6, 0x2C, 2, 0x15],
            [0, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0],
        ]
    ) { try inflate($0, .deflate) }

    private static func inflate(_ input: [UInt8], _ coding: ContentCoding) throws {
        let (whole, pieces) = input.cutByItself
        let one = account([whole], coding)
        let other = account(pieces, coding)
        try expect(one == other, "cut in pieces it is another body: \(one) and \(other)")
    }

    /// How much came of it, with a sum, and how it ended.
    private static func account(_ pieces: [[UInt8]], _ coding: ContentCoding) -> String {
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoder.pieceSize, alignment: 16)
        defer { page.deallocate() }
        var count = 0
        var sum: UInt64 = 0
        do throws(ContentFailure) {
            let decoder = try ContentDecoder([coding], limits: .init(ratio: 1000, grace: 1 << 20))
            for piece in pieces {
                try piece.span.withUnsafeBytes { bytes throws(ContentFailure) in
                    var rest = bytes
                    while true {
                        var work = 1 << 20
                        guard case .piece(let made) = try decoder.step(&rest, into: page, work: &work) else { break }
                        count += made
                        for byte in page[..<made] { sum = sum &* 31 &+ UInt64(byte) }
                    }
                }
            }
            try decoder.finish()
            return "\(count) \(sum)"
        } catch {
            return "\(error)"
        }
    }

    private static let json = FuzzTarget(
        "json",
        longest: 16 << 10,
        "{\"a\":[1,2.5e3,null,true,\"\\u00e9\\ud83d\\ude00\"]}",
        "\u{FEFF}[[[[]]]]"
    ) { input in
        try read(input, JSONResponseSerializer(), "application/json")
    }

    private static let propertyList = FuzzTarget(
        "property-list",
        longest: 16 << 10,
        seeds: [
            Array(
                "<?xml version=\"1.0\"?><plist version=\"1.0\"><dict><key>a</key><integer>1</integer></dict></plist>"
                    .utf8
            ),
            Array("bplist00".utf8) + [0xA1, 1, 0x10, 5, 8, 10, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 2]
                + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12],
        ]
    ) { input in
        try read(input, PropertyListResponseSerializer(), "application/x-plist")
    }

    private static func read(_ input: [UInt8], _ serializer: HTTPResponseSerializer, _ type: String) throws {
        guard let url = URL(string: "http://a.test/") else { return }
        let fields = ["Content-Type": type]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        _ = serializer.responseObject(for: response, data: Data(input), error: nil)
    }
}
