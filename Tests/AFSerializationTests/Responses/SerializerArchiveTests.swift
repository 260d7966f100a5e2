/// Copies and archives of serializers, those of users among them.
@Suite struct SerializerArchiveTests {
    @Test("14 responses, T-API-28: copies of subclasses have the fields of all their classes")
    func subclasses() throws {
        let serializer = SignedSerializer(key: "k1", rounds: 3)
        serializer.acceptableStatusCodes = IndexSet(integer: 299)
        serializer.removesKeysWithNullValues = true

        let copy = try #require(serializer.copy() as? SignedSerializer)
        let read = try #require(try archived(serializer))

        for other in [copy, read] {
            #expect(other !== serializer)
            #expect(other.key == "k1")
            #expect(other.rounds == 3)
            #expect(other.acceptableStatusCodes == IndexSet(integer: 299))
            #expect(other.removesKeysWithNullValues)
        }
    }

    @Test("T-API-28: changing a copy changes nothing else")
    func independence() throws {
        let serializer = JSONResponseSerializer()
        let copy = try #require(serializer.copy() as? JSONResponseSerializer)

        copy.acceptableContentTypes = nil
        copy.acceptableStatusCodes = nil
        copy.readingOptions = .fragmentsAllowed

        #expect(serializer.acceptableContentTypes != nil)
        #expect(serializer.acceptableStatusCodes != nil)
        #expect(serializer.readingOptions == [])
    }

    @Test("checks that are off, and codes of every kind, are archived as they are")
    func edges() throws {
        for codes in [nil, IndexSet(), IndexSet(0..<1000), IndexSet([0, 599, Int(Int32.max)])] {
            let serializer = HTTPResponseSerializer()
            serializer.acceptableStatusCodes = codes
            serializer.acceptableContentTypes = codes == nil ? nil : []

            let read = try #require(try archived(serializer))

            #expect(read.acceptableStatusCodes == codes)
            #expect(read.acceptableContentTypes == (codes == nil ? nil : []))
        }
    }

    @Test("a setting that an archive lacks has the value of a new serializer")
    func missingFields() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.finishEncoding()

        let read = try #require(JSONResponseSerializer(coder: try reader(archiver)))

        #expect(read.acceptableStatusCodes == IndexSet(200..<300))
        #expect(read.readingOptions == [])
    }

    @Test(
        "T-API-29: archives with fields that no serializer writes are refused",
        arguments: [
            ("AF.acceptableStatusCodes", "[[300,200]]"), ("AF.acceptableStatusCodes", "[[-1,200]]"),
            ("AF.acceptableStatusCodes", "[[0,9223372036854775807]]"), ("AF.acceptableStatusCodes", "[[1]]"),
            ("AF.acceptableStatusCodes", "\"all\""), ("AF.acceptableStatusCodes", ""),
            ("AF.acceptableContentTypes", "[1]"),
            ("AF.acceptableContentTypes", "{"), ("AF.readingOptions", "-1"), ("AF.removesKeysWithNullValues", "2"),
        ]
    )
    func forgedFields(_ key: String, _ json: String) throws {
        #expect(JSONResponseSerializer(coder: try reader(forging(key, json))) == nil)
    }

    @Test("T-API-29: fields of other types are refused")
    func foreignFields() throws {
        for key in ["AF.acceptableStatusCodes", "AF.acceptableContentTypes", "AF.readingOptions"] {
            let archiver = NSKeyedArchiver(requiringSecureCoding: true)
            archiver.encode(7, forKey: key)
            archiver.finishEncoding()

            #expect(JSONResponseSerializer(coder: try reader(archiver)) == nil)
        }
        #expect(PropertyListResponseSerializer(coder: try reader(forging("AF.format", "3"))) == nil)
    }

    @Test(
        "T-API-29: members that are no serializers, or not there, are refused",
        arguments: [
            "NSObject", "NSString", "Foundation.NSArray", "AFSerialization.SecurityPolicy", "AFSerialization.Nothing",
            "",
            ".", "a.b",
            "AFSerializationTests.NotASerializer", "AFSerialization.JSONResponseSerializer.Inner", "\u{1}\u{2}.\u{3}",
            "_TtC3a", "a",
            "AFSerializationTests.InsecureSerializer",
        ]
    )
    func foreignMembers(_ name: String) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.finishEncoding()
        let member = ["className": name, "archive": archiver.encodedData.base64EncodedString()]
        let json = String(decoding: try JSONEncoder().encode([member]), as: UTF8.self)

        #expect(CompoundResponseSerializer(coder: try reader(forging("AF.responseSerializers", json))) == nil)
    }

    @Test("a class in an archive has the name of its module, and is read under another one if the program says so")
    func moduleNames() throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.outputFormat = .xml
        archiver.encode(JSONResponseSerializer(), forKey: "s")
        let text = String(decoding: archiver.encodedData, as: UTF8.self)
        let former = text.replacingOccurrences(of: "AFSerialization.JSON", with: "AFNetworking.JSON")
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: Data(former.utf8))
        unarchiver.setClass(JSONResponseSerializer.self, forClassName: "AFNetworking.JSONResponseSerializer")

        #expect(text != former)
        #expect(unarchiver.decodeObject(of: JSONResponseSerializer.self, forKey: "s") != nil)
    }

    @Test("T-API-29: members with archives that are none are refused")
    func garbageMembers() throws {
        for garbage in ["", "x", "bplist00", String(repeating: "(", count: 100_000)] {
            let member = [
                "className": "AFSerialization.JSONResponseSerializer",
                "archive": Data(garbage.utf8).base64EncodedString(),
            ]
            let json = String(decoding: try JSONEncoder().encode([member]), as: UTF8.self)

            #expect(CompoundResponseSerializer(coder: try reader(forging("AF.responseSerializers", json))) == nil)
        }
    }

    @Test("T-API-29: members within members within members end somewhere")
    func deepMembers() throws {
        func nested(_ depth: Int) -> CompoundResponseSerializer {
            (0..<depth).reduce(CompoundResponseSerializer()) { inner, _ in
                CompoundResponseSerializer(responseSerializers: [inner])
            }
        }

        #expect(try archived(nested(8)) != nil)
        #expect(throws: (any Error).self) { try archived(nested(9)) }
    }

    private func forging(_ key: String, _ json: String) -> NSKeyedArchiver {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        let bytes = Array(json.utf8)
        bytes.withUnsafeBufferPointer { archiver.encodeBytes($0.baseAddress, length: $0.count, forKey: key) }
        archiver.finishEncoding()
        return archiver
    }

    /// A coder that reads an archive whose fields are at the top.
    private func reader(_ archiver: NSKeyedArchiver) throws -> NSKeyedUnarchiver {
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        unarchiver.requiresSecureCoding = true
        unarchiver.decodingFailurePolicy = .setErrorAndReturn
        return unarchiver
    }
}

/// A serializer as users write them.
final class SignedSerializer: JSONResponseSerializer, @unchecked Sendable {
    private(set) var key = ""
    private(set) var rounds = 0

    convenience init(key: String, rounds: Int) {
        self.init()
        self.key = key
        self.rounds = rounds
    }

    required init() {
        super.init()
    }

    required init?(coder: NSCoder) {
        key = coder.decodeObject(of: NSString.self, forKey: "key").map { String(describing: $0) } ?? ""
        rounds = coder.decodeInteger(forKey: "rounds")
        super.init(coder: coder)
    }

    override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        coder.encode(key as NSString, forKey: "key")
        coder.encode(rounds, forKey: "rounds")
    }

    override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        (copy as? SignedSerializer)?.key = key
        (copy as? SignedSerializer)?.rounds = rounds
        return copy
    }
}

final class NotASerializer: NSObject {}

final class InsecureSerializer: HTTPResponseSerializer, @unchecked Sendable {
    override class var supportsSecureCoding: Bool { false }
}
