import Foundation

@testable import AFTLS
@testable import AFURLSession

extension FuzzTarget {
    /// Files of ours, which somebody else may have written. Those with a checksum get a right one, or nothing behind
    /// it would ever be read.
    static let stores = [resumeData, cookieFile, cookieRecord, cacheEntry, cacheHead, netrc]

    private static let resumeData = FuzzTarget(
        "resume-data",
        seeds: [Array(record.encoded().dropFirst(ResumeRecord.magic.count + 1).dropLast(8))]
    ) { input in
        let bytes = ResumeRecord.magic + [ResumeRecord.version] + input
        let data = Data(bytes + little(ResumeDigest.of(bytes)))
        guard let record = try? ResumeRecord(data) else { return }
        try expect(try ResumeRecord(record.encoded()) == record, "written and read again it is another")
    }

    private static let record: ResumeRecord = {
        var request = URLRequest(url: URL(fileURLWithPath: "/x"))
        request.timeoutInterval = 5
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.setValue("1", forHTTPHeaderField: "X")
        let point = ResumePoint(offset: 10, total: 20, validator: .entityTag("\"a\""))
        return ResumeRecord(request, at: point, KeptPart(token: "part", length: 10, modified: 1, digest: 2))
    }()

    private static let cookieFile = FuzzTarget(
        "cookie-file",
        seeds: [Array(CookieFile.encode([]).dropLast(8))]
    ) { input in
        _ = try? CookieFile.decode(input + little(ResumeDigest.of(input)))
    }

    /// One record, with its own checksum as well.
    private static let cookieRecord = FuzzTarget(
        "cookie-record",
        seeds: [record(of: "a=b; Path=/x; Secure; HttpOnly; SameSite=Strict; Max-Age=9"), record(of: "c=")]
    ) { input in
        let head = CookieFile.magic + [CookieFile.version] + little(UInt32(1))
        let bytes = head + little(UInt32(input.count)) + input + little(ResumeDigest.of(input))
        guard let cookies = try? CookieFile.decode(bytes + little(ResumeDigest.of(bytes))) else { return }
        try expect(try CookieFile.decode(CookieFile.encode(cookies)) == cookies, "written and read again it is another")
    }

    private static func record(of field: String) -> [UInt8] {
        let headers = ["Set-Cookie": field]
        guard let url = URL(string: "https://a.test/x"),
            let cookie = HTTPCookie.cookies(withResponseHeaderFields: headers, for: url).first
        else { return [] }
        let stored = StoredCookie(content: cookie.content, created: 1, order: 1, lastUse: 1)
        // Between the head and the length in front, and the checksums of the record and of the file.
        return Array(CookieFile.encode([stored]).dropFirst(CookieFile.magic.count + 1 + 4 + 4).dropLast(16))
    }

    private static let cacheEntry = FuzzTarget(
        "cache-entry",
        seeds: [Array(CacheEntryCoding.magic + little(UInt32(0)) + little(UInt64(0)))]
    ) { input in
        _ = CacheEntryCoding.decode(input + SHA256Digest.of(input))
    }

    private static let cacheHead = FuzzTarget("cache-head", seeds: [[0, 0, 0, 0]]) { input in
        let bytes = CacheEntryCoding.magic + little(UInt32(input.count)) + little(UInt64(0)) + input
        _ = CacheEntryCoding.decode(bytes + SHA256Digest.of(bytes))
    }

    private static let netrc = FuzzTarget(
        "netrc",
        "machine a.test login me password \"p w\"\ndefault login x password y # z\nmacdef m\n\n",
        "machine a.test account \\\" login b"
    ) { input in
        var reader = NetrcReader(input)
        while let machine = try? reader.next() { _ = machine }
    }
}
