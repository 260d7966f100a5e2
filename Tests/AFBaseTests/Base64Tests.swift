import AFBase
import Foundation
import Testing

struct Base64Tests {
    private static func decode(_ text: String) -> [UInt8]? { Array(text.utf8).withUnsafeBytes { Base64.decode($0) } }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"),
    ])
    func `the vectors of RFC 4648 hold`(plain: String, encoded: String) {
        #expect(String(decoding: Array(plain.utf8).withUnsafeBytes { Base64.encode($0) }, as: UTF8.self) == encoded)
        #expect(Self.decode(encoded) == Array(plain.utf8))
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "=", "====", "Zg==Zg==", "Zm9v\n", " Zm9v", "Zm9v=", "Z===", "Zh==", "Zm9=",
        "Zm-v", "Zm_v", "Zm9\u{0}", "Zm9ü", "=Zg=", "Z=g=",
    ])
    func `T-REQ-31 only the canonical encoding decodes`(text: String) {
        #expect(Self.decode(text) == nil)
    }

    @Test func `T-REQ-31 encoding agrees with Foundation for any length`() {
        for length in 0..<300 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 97 &+ length &* 31) }

            let encoded = bytes.withUnsafeBytes { Base64.encode($0) }

            #expect(String(decoding: encoded, as: UTF8.self) == Data(bytes).base64EncodedString())
            #expect(encoded.withUnsafeBytes { Base64.decode($0) } == bytes)
        }
    }
}
