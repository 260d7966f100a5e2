import AFBase
import AFWire
import Testing

struct RequestSyntaxTests {
    private static let tokenBytes = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8
    )

    /// The byte at the front, in the middle and at the end of other text.
    private static func placements(of byte: UInt8) -> [[UInt8]] {
        [[byte] + Array("ab".utf8), Array("a".utf8) + [byte] + Array("b".utf8), Array("ab".utf8) + [byte]]
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `T-REQ-01 controls are refused anywhere in a field value, HTAB excepted`(byte: UInt8) {
        let isRefused = byte < 0x20 && byte != 0x09 || byte == 0x7F
        for (position, value) in Self.placements(of: byte).enumerated() {
            let error = Self.errorOfValue(value)

            #expect(error.map(\.rule) == (isRefused ? .control : nil), "position \(position)")
            #expect(error?.position ?? position == position)
        }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `T-REQ-01 controls are refused in what Basic credentials carry, HTAB included`(byte: UInt8) {
        let coded = ([0x75, 0x3A, byte]).withUnsafeBytes { Base64.encode($0) }
        let value = Array("Basic ".utf8) + coded
        let rejection = value.withUnsafeBytes { value in
            "Authorization".withUTF8Bytes { name in
                do throws(RequestRejection) {
                    _ = try RequestSyntax.trimmedFieldValue(value, of: name)
                    return RequestRejection?.none
                } catch {
                    return error
                }
            }
        }

        #expect(rejection?.rule == (byte < 0x20 || byte == 0x7F ? .control : nil))
    }

    @Test(arguments: ["Date", "ETag", "Link", "A", "Ex", "Expected", "Connections", "Proxy", "Proxyx"])
    func `a name as long as a reserved one is the caller's`(name: String) {
        #expect(name.withUTF8Bytes { ReservedField.of($0) } == nil)
    }

    @Test(arguments: ["a\r\n b", "a\r\n\tb", "\r\na", "a\r\n", "a\n", "a\r", "\r\n", "e\r\n\u{301}", "\u{301}\r\n"])
    func `T-REQ-01 folds and line ends are refused, not trimmed`(value: String) {
        #expect(Self.errorOfValue(Array(value.utf8))?.rule == .control)
    }

    @Test(arguments: [
        (" a ", "a"), ("\ta\t", "a"), (" \t a b \t ", "a b"), ("a\tb", "a\tb"), ("", ""), ("  ", ""),
        ("\u{A0}a\u{A0}", "\u{A0}a\u{A0}"), ("\u{2000}a", "\u{2000}a"), ("ü", "ü"),
    ])
    func `T-REQ-01 only SP and HTAB are trimmed`(value: String, expected: String) throws {
        let trimmed = try value.withUTF8Bytes { bytes throws(RequestRejection) in
            Array(try RequestSyntax.trimmedFieldValue(bytes, of: bytes))
        }

        #expect(trimmed == Array(expected.utf8))
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `T-REQ-02 a field name is a token`(byte: UInt8) {
        for name in Self.placements(of: byte) {
            let isAccepted = name.withUnsafeBytes { (try? RequestSyntax.checkFieldName($0)) != nil }

            #expect(isAccepted == Self.tokenBytes.contains(byte))
        }
    }

    @Test func `T-REQ-02 T-REQ-03 an empty name and an empty method are refused`() {
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)

        #expect(throws: RequestRejection(.fieldName, rule: .empty)) { try RequestSyntax.checkFieldName(empty) }
        #expect(throws: RequestRejection(.method, rule: .empty)) { try RequestSyntax.checkMethod(empty) }
    }

    @Test(arguments: UInt8.min...UInt8.max)
    func `T-REQ-03 a method is a token`(byte: UInt8) {
        for method in Self.placements(of: byte) {
            let isAccepted = method.withUnsafeBytes { (try? RequestSyntax.checkMethod($0)) != nil }

            #expect(isAccepted == Self.tokenBytes.contains(byte))
        }
    }

    @Test(arguments: ["CONNECT", "connect", "Connect"])
    func `T-REQ-03 CONNECT is not for callers`(method: String) {
        let error = #expect(throws: RequestRejection.self) { try MethodTraits(method) }

        #expect(error?.rule == .notAllowed)
    }

    @Test(arguments: [
        ("GET", true, false), ("HEAD", true, false), ("TRACE", true, false), ("OPTIONS", true, true),
        ("PUT", true, true), ("DELETE", true, true), ("POST", false, true), ("PATCH", false, true),
        ("get", false, true), ("PURGE", false, true),
    ])
    func `T-REQ-03 methods are told apart by case`(method: String, isIdempotent: Bool, mayHaveBody: Bool) throws {
        let traits = try MethodTraits(method)

        #expect(traits.isIdempotent == isIdempotent && MethodTraits.idempotentMethods.contains(method) == isIdempotent)
        #expect(traits.mayHaveBody == mayHaveBody)
    }

    private static func errorOfValue(_ value: [UInt8]) -> RequestRejection? {
        value.withUnsafeBytes { bytes in
            do throws(RequestRejection) {
                _ = try RequestSyntax.trimmedFieldValue(bytes, of: bytes)
                return nil
            } catch {
                return error
            }
        }
    }
}
