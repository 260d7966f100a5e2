import AFNetworkingXML
import Foundation
import FoundationXML
import Testing

@Suite struct XMLParserResponseSerializerTests {
    private let serializer = XMLParserResponseSerializer()

    @Test("13.6 XML parser: the media types of XML are accepted", arguments: ["application/xml", "text/xml"])
    func types(_ type: String) throws {
        #expect(try serializer.validate(makeResponse(type: type), data: Data("<foo/>".utf8)))
        #expect(AFXMLParserResponseSerializer.serializer().acceptableContentTypes == ["application/xml", "text/xml"])
    }

    @Test("13.6 XML parser: another type is an error")
    func otherType() throws {
        let response = try makeResponse(type: "nonstandard/xml")
        let (object, error) = serializer.serialize(response, data: Data("<foo/>".utf8))

        #expect(object == nil)
        #expect((error as NSError?)?.code == -1016)
    }

    @Test("13.6 XML parser: XML becomes a parser that was not started")
    func parser() throws {
        let (object, error) = serializer.serialize(try makeResponse(), data: Data("<foo>b&amp;r</foo>".utf8))
        let parser = try #require(object as? XMLParser)
        let record = ParserRecord()
        parser.delegate = record

        #expect(error == nil)
        #expect(parser.parse())
        #expect(record.elements == ["foo"])
        #expect(record.text == "b&r")
    }

    @Test("13.6 XML parser: a copy has the sets, an archive too")
    func copying() throws {
        serializer.acceptableStatusCodes = IndexSet(integer: 100)
        serializer.acceptableContentTypes = ["test/type"]

        for other in [serializer.copy() as? XMLParserResponseSerializer, try archived(serializer)] {
            let other = try #require(other)
            #expect(other !== serializer)
            #expect(other.acceptableStatusCodes == IndexSet(integer: 100))
            #expect(other.acceptableContentTypes == ["test/type"])
        }
    }

    @Test("9.5 the parser reports text that is not XML, not the serializer")
    func malformed() throws {
        for text in ["<foo", "<", "<a", "<a>", "x", "<a/><b/>", "<a/>x", "&lt;"] {
            #expect(try parsed(Data(text.utf8)).succeeded == false, "\(text)")
        }
        #expect(try parsed(Data("<a/>".utf8)).succeeded)
    }

    @Test("9.5 a parser comes beside the error of an unacceptable status")
    func unacceptableStatus() throws {
        let (object, error) = serializer.serialize(try makeResponse(404), data: Data("<foo/>".utf8))

        #expect(object is XMLParser)
        #expect((error as NSError?)?.code == -1011)
    }

    @Test("16 9.6 an empty body is nothing", arguments: [nil, Data()])
    func emptyBody(_ body: Data?) throws {
        let (object, error) = serializer.serialize(try makeResponse(204), data: body)

        #expect(object == nil)
        #expect(error == nil)
    }
}
