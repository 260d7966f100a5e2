import AFNetworkingTesting
import AFNetworkingXML
import Foundation
import FoundationXML
import Testing

/// Documents that servers send to break programs, or to have them read something.
@Suite struct HostileXMLTests {
    /// A parser, and documents with each of the options: whether each reads the text, and the text it has.
    private func outcomes(_ body: Data) throws -> [(succeeded: Bool, text: String)] {
        let parser = try parsed(body)
        let options: [XMLNode.Options] = [
            [], .nodeLoadExternalEntitiesAlways, .nodeLoadExternalEntitiesSameOriginOnly, .documentXInclude,
            [.nodeLoadExternalEntitiesAlways, .nodePreserveAll],
        ]
        let documents = try options.map { try documented(body, $0).document }
        return [(parser.succeeded, parser.record.text)]
            + documents.map { document in
                // All that a document can be asked for.
                let text = (document?.stringValue ?? "") + (document?.xmlString ?? "")
                return (document != nil, text)
            }
    }

    // MARK: - Entities

    @Test("no external entity, document type or inclusion is read, from a file or from the network, T-RES-09")
    func externalEntities() throws {
        let server = try TestServer()
        server.route("*", "/*") { _ in .text("KANARIE") }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("canary-\(UUID().uuidString).txt")
        try Data("KANARIE".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        for target in ["file://\(file.path)", file.path, server.url("/x.dtd").absoluteString] {
            for text in [
                "<!DOCTYPE a [<!ENTITY x SYSTEM \"\(target)\">]><a>&x;</a>",
                "<!DOCTYPE a [<!ENTITY x PUBLIC \"-//X\" \"\(target)\">]><a><b>&x;</b></a>",
                "<!DOCTYPE a [<!ENTITY % x SYSTEM \"\(target)\"> %x;]><a>b</a>",
                "<!DOCTYPE a [<!ENTITY x SYSTEM \"\(target)\"><!ENTITY y \"&x;\">]><a b=\"c\">&y;</a>",
                "<!DOCTYPE a SYSTEM \"\(target)\"><a>b</a>",
                "<!DOCTYPE a PUBLIC \"-//X\" \"\(target)\"><a>&x;</a>",
                "<a xmlns:i=\"http://www.w3.org/2001/XInclude\"><i:include href=\"\(target)\" parse=\"text\"/></a>",
            ] {
                for outcome in try outcomes(Data(text.utf8)) {
                    #expect(!outcome.text.contains("KANARIE"), "\(text)")
                }
            }
        }
        #expect(server.connections.isEmpty)
    }

    @Test("entities of the document itself are text")
    func internalEntities() throws {
        let body = Data(#"<!DOCTYPE a [<!ENTITY x "b<c>d</c>">]><a>&x;</a>"#.utf8)

        let (document, error) = try documented(body)

        #expect(error == nil)
        #expect(document?.rootElement()?.stringValue == "bd")
        #expect(document?.rootElement()?.children?.count != 0)
        #expect(document?.xmlString.contains("&x;") == true)
    }

    @Test("processing instructions without data are reported as empty, and change nothing else, T-RES-09")
    func emptyInstructions() throws {
        let text = "<a><?p?>b<![CDATA[<?q?>]]><!--<?r?>--><?s t?><?u?v?></a><?w?>"

        let (succeeded, record) = try parsed(Data(text.utf8))

        #expect(!succeeded)  // a question mark is no part of a name
        let good = try parsed(Data(text.replacing("<?u?v?>", with: "").utf8))
        #expect(good.succeeded)
        #expect(good.record.text == "?p ?b<?q?>!<?r?>!?s t??w ?")
        #expect(record.text.hasPrefix("?p ?b"))
        // What looks like the beginning of a comment, or of another, is the data of the first.
        let within = try parsed(Data("<?l <!--?><a><?f?><?g <?h?><?i <![CDATA[?><?j?></a>".utf8))
        #expect(within.succeeded)
        #expect(within.record.text == "?l <!--??f ??g <?h??i <![CDATA[??j ?")
        for broken in [
            "<a><!--\u{1}<?x?>--></a>", "<a><![CDATA[\u{1}<?x?>]]></a>", "<?x?>", "<a><?x?>", "<a b='<?x?>'/>",
        ] {
            _ = try parsed(Data(broken.utf8))
        }
    }

    @Test("each opening of an instruction is read once, however many there are, T-RES-09", .timeLimit(.minutes(2)))
    func manyInstructions() throws {
        let openings = String(repeating: "<?", count: 1 << 19) + "?>"
        let comments = "<a>" + String(repeating: "<!--<?x?>--><?y?>", count: 1 << 15) + "</a>"

        _ = XMLParserResponseSerializer().serialize(try makeResponse(), data: Data(openings.utf8))
        let (succeeded, record) = try parsed(Data(comments.utf8))

        #expect(succeeded)
        #expect(record.text.hasPrefix("!<?x?>!?y ?!<?x?>!"))
    }

    @Test("markup at which Foundation's parser would end the process is an error, T-RES-09")
    func declarations() throws {
        for text in [
            "<!DOCTYPE a [<!NOTATION n SYSTEM 'b'>]><a/>", "<!DOCTYPE a [<!ENTITY x SYSTEM 'a' NDATA n>]><a/>",
            "<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "<!DOCTYPE a SYSTEM '<?x?>'><a><?x?></a>",
        ] {
            let (object, error) = XMLParserResponseSerializer().serialize(try makeResponse(), data: Data(text.utf8))

            #expect(object == nil)
            #expect((error as NSError?)?.domain == XMLParser.errorDomain)
        }
        #expect(try parsed(Data("<!DOCTYPE a [<!ELEMENT a ANY><!ATTLIST a b CDATA 'c'>]><a>d</a>".utf8)).succeeded)
    }

    @Test("entities that multiply are an error, T-RES-09")
    func bombs() throws {
        let ten = { (name: String) in String(repeating: "&\(name);", count: 10) }
        let levels = (1...12).map { "<!ENTITY l\($0) \"\(ten("l\($0 - 1)"))\">" }.joined()
        let laughs = "<!DOCTYPE a [<!ENTITY l0 \"lol\">\(levels)]><a>&l12;</a>"
        let attribute = "<!DOCTYPE a [<!ENTITY l0 \"lol\">\(levels)]><a b=\"&l12;\"/>"
        let large = String(repeating: "x", count: 100_000)
        let quadratic = "<!DOCTYPE a [<!ENTITY x \"\(large)\">]><a>\(String(repeating: "&x;", count: 100_000))</a>"
        let loop = "<!DOCTYPE a [<!ENTITY x \"&y;\"><!ENTITY y \"&x;\">]><a>&x;</a>"
        let parameters = (1...30).map { "<!ENTITY % p\($0) \"%p\($0 - 1);%p\($0 - 1);\">" }.joined()

        for text in [laughs, attribute, quadratic, loop] {
            for outcome in try outcomes(Data(text.utf8)) {
                #expect(!outcome.succeeded, "\(text.prefix(60))")
                #expect(outcome.text.utf8.count < 20_000_000)
            }
        }
        _ = try outcomes(Data("<!DOCTYPE a [<!ENTITY % p0 \"x\">\(parameters) %p30;]><a/>".utf8))
    }

    // MARK: - Form

    @Test("elements within elements without end are an error, T-RES-09")
    func depth() throws {
        for outcome in try outcomes(Data(String(repeating: "<a>", count: 100_000).utf8)) { #expect(!outcome.succeeded) }
        let closed = String(repeating: "<a>", count: 200) + String(repeating: "</a>", count: 200)
        for outcome in try outcomes(Data(closed.utf8)) { #expect(outcome.succeeded) }
    }

    @Test("documents are not validated against a type the server chose")
    func validation() throws {
        let (document, error) = try documented(Data("<!DOCTYPE a [<!ELEMENT a EMPTY>]><a/>".utf8), .documentValidate)

        #expect(document == nil)
        #expect(error?.localizedDescription.contains("documentValidate") == true)
    }

    @Test("names and text that are not valid in their encoding trap nothing, T-MSG-55")
    func encodings() throws {
        let bad: [[UInt8]] = [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82], [0]]
        let heads = ["", "bogus", "US-ASCII", "Shift_JIS", "ISO-8859-1"].map {
            $0.isEmpty ? "" : "<?xml version='1.0' encoding='\($0)'?>"
        }
        for bytes in bad {
            for head in heads {
                for (before, after) in [
                    ("<", "/>"), ("<a", "></a>"), ("<a ", "='b'/>"), ("<a b='", "'/>"), ("<a>", "</a>"),
                    ("<a><!--", "--></a>"),
                    ("<a><?", "?></a>"), ("<a><?p ", "?></a>"), ("<a><![CDATA[", "]]></a>"), ("<a>&", ";</a>"),
                    ("<!DOCTYPE ", "><a/>"), ("<!DOCTYPE a [<!ENTITY ", " 'b'>]><a/>"), ("<x:", " xmlns:x='y'/>"),
                    ("<!DOCTYPE a [<!NOTATION ", " SYSTEM 'b'>]><a/>"), ("<!DOCTYPE a [<!ELEMENT ", " EMPTY>]><a/>"),
                    ("<!DOCTYPE a [<!ATTLIST a ", " CDATA 'b'>]><a/>"), ("<a xmlns:", "='b'/>"), ("<a xmlns='", "'/>"),
                    ("<!DOCTYPE a [<!ENTITY x SYSTEM 'a' NDATA ", ">]><a/>"),
                ] {
                    let body = Data(head.utf8) + Data(before.utf8) + Data(bytes) + Data(after.utf8)
                    _ = try parsed(body)
                    _ = try documented(body).document?.xmlString
                }
            }
        }
    }

    @Test("XML in other encodings is read", arguments: [String.Encoding.utf16, .utf16BigEndian, .isoLatin1, .utf8])
    func otherEncodings(_ encoding: String.Encoding) throws {
        let name = encoding == .isoLatin1 ? "ISO-8859-1" : encoding == .utf8 ? "UTF-8" : "UTF-16"
        let mark = encoding == .utf16BigEndian ? "\u{FEFF}" : ""
        let text = "\(mark)<?xml version=\"1.0\" encoding=\"\(name)\"?><größe>süß</größe>"
        let body = try #require(text.data(using: encoding))

        let (document, error) = try documented(body)
        let parser = try parsed(body)

        #expect(error == nil)
        #expect(document?.rootElement()?.name == "größe")
        #expect(document?.rootElement()?.stringValue == "süß")
        #expect(parser.succeeded)
        #expect(parser.record.elements == ["größe"])
        #expect(parser.record.text == "süß")
    }

    @Test(
        "declarations that could be read in two ways are an error, T-MSG-55",
        arguments: [
            "<?xml version=\"encoding 'UTF-8'\" encoding=\"UTF-7\"?>", "<?xml encoding='UTF-7'?>", "<?xml ?>",
            "<?xml version='1.0' encoding='UTF-7'?>", "<?xml version='1.0' encoding='bogus'?>",
            "<?xml version='1.0' encoding='UTF-16'?>", "<?xml version='1.0' encoding=''?>", "<?xml version='1.0'",
            "<?xml version='1.0' standalone='yes' encoding='UTF-8'?>", "<?xml version='1.0' encoding='UTF-8\"?>",
        ]
    )
    func declarationsOfEncodings(_ declaration: String) throws {
        for outcome in try outcomes(Data((declaration + "<a/>").utf8)) { #expect(!outcome.succeeded) }
        let good = "<?xml version = '1.1'\n encoding\t= \"us-ascii\" standalone='no' ?><a/>"
        for outcome in try outcomes(Data(good.utf8)) { #expect(outcome.succeeded) }
    }

    @Test("documents cut off or with a byte changed anywhere trap nothing, T-RES-09")
    func mutations() throws {
        let text =
            #"<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "y">]><a b="c" xmlns:d="e"><d:f/>&x;<![CDATA[g]]><!--h--></a>"#
        let body = Data(text.utf8)
        for index in body.indices {
            for byte in [0x00, 0x26, 0x3C, 0x3E, 0xC3] as [UInt8] {
                var changed = body
                changed[index] = byte
                _ = try parsed(changed)
                _ = try documented(changed).document?.xmlString
            }
            _ = try parsed(body.prefix(index))
            _ = try documented(Data(body.prefix(index))).document?.xmlString
        }
        #expect(try documented(body).document != nil)
    }
}
