import AFBase
import AFLoop
import Foundation
import Testing

@testable import AFURLTypes

struct ResumeRecordTests {
    private func record(
        url: String = "http://host.test/file?a=b",
        token: String = String(repeating: "0a", count: 16),
        offset: Int64 = 100,
        total: Int64? = 200,
        validator: ResumeValidator = .entityTag("\"one\"")
    ) throws -> ResumeRecord {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue("Basic c2VjcmV0", forHTTPHeaderField: "Authorization")
        request.timeoutInterval = 12.5
        request.cachePolicy = .reloadIgnoringLocalCacheData
        let part = KeptPart(token: token, length: offset, modified: -1, digest: .max)
        return ResumeRecord(
            request: request,
            at: ResumePoint(offset: 0, total: total, validator: validator),
            part: part,
            under: [7]
        )
    }

    private func sealed(_ bytes: some Collection<UInt8>) -> Data {
        let digest = FNV1a.of(bytes)
        return Data(bytes) + Data((0..<8).map { UInt8(truncatingIfNeeded: digest >> (8 * UInt64($0))) })
    }

    @Test func `a record that was written is read`() throws {
        for validator in [.entityTag("\"one\""), .lastModified("Sun, 06 Nov 1994 08:49:37 GMT")] as [ResumeValidator] {
            for total in [nil, 100, 200] as [Int64?] {
                let record = try record(total: total, validator: validator)

                let read = try ResumeRecord(record.encoded())

                #expect(read == record)
                #expect(read.request?.value(forHTTPHeaderField: "Authorization") == "Basic c2VjcmV0")
                #expect(read.request?.timeoutInterval == 12.5)
            }
        }
    }

    @Test func `whatever is cut or changed is refused, T-FIL-17, T-API-29`() throws {
        let data = try record().encoded()

        for count in 0..<data.count {
            #expect(throws: ResumeFlaw.self) { try ResumeRecord(data.prefix(count)) }
        }
        for index in data.indices {
            for bit in 0..<8 {
                var changed = data
                changed[index] ^= 1 << bit
                #expect(throws: ResumeFlaw.self) { try ResumeRecord(changed) }
            }
        }
        #expect(throws: ResumeFlaw.tooLong(limit: 256 << 10)) { try ResumeRecord(Data(count: 300_000)) }
        #expect(throws: ResumeFlaw.notResumeData) { try ResumeRecord(Data("bplist00".utf8) + data) }
    }

    @Test(arguments: RequestTermsTests.requests)
    func `the request is made again with all it says`(request: AFURLTypes.URLRequest) throws {
        let part = KeptPart(token: String(repeating: "0a", count: 16), length: 100, modified: 1, digest: 2)
        let point = ResumePoint(offset: 0, total: nil, validator: .entityTag("\"one\""))

        let read = try ResumeRecord(ResumeRecord(request: request, at: point, part: part, under: [7]).encoded())

        let again = try #require(read.request)
        #expect(again == request && again.headerFields.map(\.name) == request.headerFields.map(\.name))
    }

    @Test(arguments: [Data(), Data("{}".utf8), Data("nothing".utf8)])
    func `without what a request withheld there is no request`(terms: Data) throws {
        let whole = try record()
        let encoded = [UInt8](whole.encoded().dropLast(8))
        let former = whole.terms.encoded
        let place = try #require(Data(encoded).range(of: former))
        let count = UInt32(terms.count)
        let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * UInt32($0))) }
        let changed = encoded[..<(place.lowerBound - 4)] + length + terms + encoded[place.upperBound...]
        let gone = encoded[..<(place.lowerBound - 5)] + encoded[place.upperBound...]

        #expect(throws: ResumeFlaw.damaged) { try ResumeRecord(sealed(changed)) }
        #expect(throws: ResumeFlaw.damaged) { try ResumeRecord(sealed(gone)) }
    }

    @Test func `an entry may be empty, and its length has four bytes`() throws {
        let encoded = [UInt8](try record().encoded().dropLast(8))
        let empty = encoded + [2, 1, 0, 0, 0, UInt8(ascii: "X")] + [3, 0, 0, 0, 0]
        #expect(try ResumeRecord(sealed(empty)).fields.last == ResumeRecord.Field(name: "X", value: ""))
        // The length of the first entry.
        for place in 10...13 {
            var long = encoded
            long[place] += 1
            #expect(throws: ResumeFlaw.damaged) { try ResumeRecord(sealed(long)) }
        }
    }

    @Test func `another version is named`() throws {
        var data = try record().encoded()
        // Version 2 does not say under which judgement the part came.
        for version in [1, 2] as [UInt8] {
            data[8] = version
            #expect(throws: ResumeFlaw.otherVersion(version, read: ResumeRecord.version)) { try ResumeRecord(data) }
        }
    }

    @Test(arguments: [
        "", "../../../../etc/passwd", "/etc/passwd", String(repeating: "0", count: 31) + "/",
        String(repeating: "0", count: 33), String(repeating: "A", count: 32),
        ".." + String(repeating: "0", count: 30),
        String(repeating: "0", count: 31) + "\u{0}",
    ])
    func `a forged record names no place, T-FIL-17, T-API-29`(token: String) throws {
        let data = try record(token: token).encoded()

        #expect(throws: ResumeFlaw.damaged) { try ResumeRecord(data) }
    }

    @Test func `numbers and validators that cannot be are refused, T-FIL-17`() throws {
        #expect(throws: ResumeFlaw.damaged) { try ResumeRecord(record(offset: 0).encoded()) }
        #expect(throws: ResumeFlaw.damaged) { try ResumeRecord(record(offset: 201).encoded()) }
        for tag in ["W/\"one\"", "one", "\"a\r\nb\"", "\"", ""] {
            #expect(throws: ResumeFlaw.damaged) {
                try ResumeRecord(record(validator: .entityTag(tag)).encoded())
            }
        }
        #expect(throws: ResumeFlaw.damaged) {
            try ResumeRecord(record(validator: .lastModified("now\r\nHost: x")).encoded())
        }
    }

    @Test func `sealed nonsense is refused or harmless, T-API-29`() throws {
        var random = SystemRandomNumberGenerator()
        let head = ResumeRecord.magic + [ResumeRecord.version]
        let good = Array(try record().encoded().dropLast(8))
        for _ in 0..<3000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let index = Int.random(in: head.count..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[index...].prefix(40), at: index)
                }
            }
            guard let read = try? ResumeRecord(sealed(bytes)) else { continue }
            #expect(FileToken.isToken(read.token))
            #expect(read.point.offset > 0 && read.point.total ?? .max >= read.point.offset)
        }
    }
}
