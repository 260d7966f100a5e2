import AFNetworking
import AFNetworkingXML
import AFWire
import Foundation
import FoundationXML

@testable import AFURLSession
@testable import AFURLTypes

extension FuzzTarget {
    /// Bodies.
    static let contents = [gzip, deflate, json, propertyList, xmlParser, xmlDocument]

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
            let decoder = try ContentDecoder(codings: [coding], limits: .init(ratio: 1000, grace: 1 << 20))
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

    private static let xmlParser = FuzzTarget("xml-parser", longest: 16 << 10, seeds: xmlSeeds) { input in
        let object = try read(input, XMLParserResponseSerializer(), "text/xml")
        guard let parser = object as? XMLParser else { return }
        let ear = XMLEar()
        parser.delegate = ear
        _ = parser.parse()
    }

    private static let xmlDocument = FuzzTarget("xml-document", longest: 16 << 10, seeds: xmlSeeds) { input in
        _ = try read(input, XMLDocumentResponseSerializer(), "text/xml")
    }

    private static let xmlSeeds = [
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\" standalone='yes'?><a b=\"c\"><!-- d --><![CDATA[e]]>&lt;&#233;<?f?></a>",
        "<!DOCTYPE a [<!ENTITY b \"c\"><!ELEMENT a (#PCDATA)><!ATTLIST a d CDATA \"e\">]><a>&b;</a>",
        "\u{FEFF}<a xmlns:b=\"c\"><b:d/><?e f?></a>",
    ].map { Array($0.utf8) }

    /// Whose methods are looked for by the parser.
    private final class XMLEar: NSObject, XMLParserDelegate {
        private var heard = 0

        func parser(
            _ parser: XMLParser,
            didStartElement elementName: String,
            namespaceURI: String?,
            qualifiedName qName: String?,
            attributes attributeDict: [String: String]
        ) {
            heard += attributeDict.count
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { heard += string.utf8.count }
        func parser(_ parser: XMLParser, foundComment comment: String) { heard += 1 }
        func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) { heard += 1 }
        func parser(_ parser: XMLParser, foundProcessingInstructionWithTarget target: String, data: String?) {
            heard += 1
        }
    }

    @discardableResult
    private static func read(_ input: [UInt8], _ serializer: HTTPResponseSerializer, _ type: String) throws -> Any? {
        guard let url = URL(string: "http://a.test/") else { return nil }
        let fields = ["Content-Type": type]
        let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: fields)
        return serializer.responseObject(for: response, data: Data(input), error: nil)
    }
}
