import AFNetworkingXML
import Foundation
import FoundationXML
import Testing

@Suite struct XMLDocumentResponseSerializerTests {
    private let serializer = XMLDocumentResponseSerializer()

    @Test("13.6 XML document: the media types of XML are accepted", arguments: ["application/xml", "text/xml"])
    func types(_ type: String) throws {
        #expect(try serializer.validate(makeResponse(type: type), data: Data("<foo/>".utf8)))
        #expect(AFXMLDocumentResponseSerializer.serializer().acceptableContentTypes == ["application/xml", "text/xml"])
    }

    @Test("13.6 XML document: another type is an error")
    func otherType() throws {
        let response = try makeResponse(type: "nonstandard/xml")
        let (object, error) = serializer.serialize(response, data: Data("<foo/>".utf8))

        #expect(object == nil)
        #expect((error as NSError?)?.code == -1016)
    }

    @Test("13.6 XML document: XML becomes a document")
    func document() throws {
        let (document, error) = try documented(Data(#"<foo a="1"><b>c</b><!-- d --></foo>"#.utf8))

        #expect(error == nil)
        #expect(document?.rootElement()?.name == "foo")
        #expect(document?.rootElement()?.attribute(forName: "a")?.stringValue == "1")
        #expect(document?.rootElement()?.elements(forName: "b").first?.stringValue == "c")
    }

    @Test("13.6 XML document: what is cut off is an error")
    func malformed() throws {
        for text in ["<foo", "<", "x", "<a></b>", "<a/><b/>", "<a b=c/>", "<a>&undefined;</a>", "<a>&#0;</a>"] {
            let (document, error) = try documented(Data(text.utf8))

            #expect(document == nil, "\(text)")
            #expect(error?.domain == XMLParser.errorDomain, "\(text)")
        }
        #expect(try documented(Data("<foo".utf8)).error?.localizedDescription.contains("line 1") == true)
        #expect(try documented(Data("<a/>".utf8)).document != nil)
    }

    @Test("13.6 XML document: a copy has options and sets, an archive too")
    func copying() throws {
        let serializer = XMLDocumentResponseSerializer.serializer(withXMLDocumentOptions: .nodePreserveWhitespace)
        serializer.acceptableStatusCodes = IndexSet(integer: 100)
        serializer.acceptableContentTypes = ["test/type"]

        for other in [serializer.copy() as? XMLDocumentResponseSerializer, try archived(serializer)] {
            let other = try #require(other)
            #expect(other !== serializer)
            #expect(other.options == .nodePreserveWhitespace)
            #expect(other.acceptableStatusCodes == IndexSet(integer: 100))
            #expect(other.acceptableContentTypes == ["test/type"])
        }
    }

    @Test("9.5 options reach the document")
    func options() throws {
        let body = Data("<a> <b/> </a>".utf8)

        #expect(try documented(body).document?.rootElement()?.childCount == 1)
        #expect(try documented(body, .nodePreserveWhitespace).document?.rootElement()?.childCount == 3)
    }

    @Test("9.5 a document comes beside the error of an unacceptable status, whose error is beneath that of the parser")
    func unacceptableStatus() throws {
        let good = serializer.serialize(try makeResponse(404), data: Data("<foo/>".utf8))
        let bad = serializer.serialize(try makeResponse(404), data: Data("<foo".utf8))

        #expect(good.object is XMLDocument)
        #expect((good.error as NSError?)?.code == -1011)
        #expect(bad.object == nil)
        #expect(((bad.error as NSError?)?.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == -1011)
    }

    @Test("16 9.6 an empty body is nothing", arguments: [nil, Data()])
    func emptyBody(_ body: Data?) throws {
        let (object, error) = serializer.serialize(try makeResponse(204), data: body)

        #expect(object == nil)
        #expect(error == nil)
    }
}
