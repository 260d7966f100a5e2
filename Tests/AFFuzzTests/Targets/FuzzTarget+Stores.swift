import AFBase
import AFNetworking
import AFWire
import Foundation

@testable import AFState
@testable import AFTLS
@testable import AFURLSession
@testable import AFURLTypes

extension FuzzTarget {
    /// Files of ours, which another program may have written. Those with a checksum get a right one: otherwise the
    /// reader would stop there.
    static let stores = [
        resumeData, cookieFile, cookieRecord, cacheEntry, cacheHead, cacheMemory, netrc, policyArchive,
    ]

    private static let resumeData = FuzzTarget(
        "resume-data",
        seeds: [Array(record.encoded().dropFirst(ResumeRecord.magic.count + 1).dropLast(8))]
    ) { input in
        let bytes = ResumeRecord.magic + [ResumeRecord.version] + input
        let data = Data(bytes + little(FNV1a.of(bytes)))
        guard let record = try? ResumeRecord(data) else { return }
        try expect(try ResumeRecord(record.encoded()) == record, "written and read again it is another")
    }

    private static let record: ResumeRecord = {
        var request = URLRequest(url: URL(fileURLWithPath: "/x"))
        request.timeoutInterval = 5
        request.cachePolicy = .reloadIgnoringLocalCacheData
        request.setValue("1", forHTTPHeaderField: "X")
        let point = ResumePoint(offset: 10, total: 20, validator: .entityTag("\"a\""))
        let part = KeptPart(token: "part", length: 10, modified: 1, digest: 2)
        return ResumeRecord(request: request, at: point, part: part, under: [7])
    }()

    private static let policyArchive = FuzzTarget("policy-archive", seeds: policies) { input in
        guard let policy = try? JSONDecoder().decode(SecurityPolicy.self, from: Data(input)) else { return }
        let again = try JSONDecoder().decode(SecurityPolicy.self, from: try JSONEncoder().encode(policy))
        try expect(
            again.fingerprint == policy.fingerprint && again.hostRules == policy.hostRules,
            "written and read again it is another"
        )
        let said = try? JSONDecoder().decode(SaidOfPolicy.self, from: Data(input))
        try expect(
            !policy.allowInvalidCertificates || said?.allowInvalidCertificates == true,
            "it allows what it does not say"
        )
        try expect(
            policy.validatesDomainName || said?.validatesDomainName == false,
            "it leaves out a check, and does not say so"
        )
    }

    private struct SaidOfPolicy: Decodable {
        let allowInvalidCertificates: Bool?
        let validatesDomainName: Bool?
    }

    private static let policies: [[UInt8]] = {
        let strict = SecurityPolicy()
        let lax = SecurityPolicy()
        lax.allowInvalidCertificates = true
        lax.validatesDomainName = false
        let ruled = SecurityPolicy()
        let pin = "sha256/" + String(repeating: "A", count: 43) + "="
        var pins = try? PinSet([pin], backups: ["sha256/" + String(repeating: "B", count: 43) + "="])
        pins?.expiry = PinSet.Expiry(Date(timeIntervalSince1970: 2_000_000_000), .failOpen)
        if let pins, let rule = try? HostRule.pins("*.a.test", pins), let free = try? HostRule.noPins("b.test") {
            ruled.hostRules = [rule, free]
        }
        return [strict, lax, ruled].compactMap { try? JSONEncoder().encode($0) }.map { [UInt8]($0) }
    }()

    private static let cookieFile = FuzzTarget(
        "cookie-file",
        seeds: [Array(CookieFile.encode([]).dropLast(8))]
    ) { input in
        _ = try? CookieFile.decode(input + little(FNV1a.of(input)))
    }

    /// One record, with its own checksum as well.
    private static let cookieRecord = FuzzTarget(
        "cookie-record",
        seeds: [record(of: "a=b; Path=/x; Secure; HttpOnly; SameSite=Strict; Max-Age=9"), record(of: "c=")]
    ) { input in
        let head = CookieFile.magic + [CookieFile.version] + little(UInt32(1))
        let bytes = head + little(UInt32(input.count)) + input + little(FNV1a.of(input))
        guard let cookies = try? CookieFile.decode(bytes + little(FNV1a.of(bytes))) else { return }
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
        guard let key = keys.first else { return }
        _ = CacheEntryCoding.decode(input + SHA256Digest.of(input), for: key, options: [])
    }

    private static let cacheHead = FuzzTarget("cache-head", seeds: [[0, 0, 0, 0]]) { input in
        guard let key = keys.first else { return }
        let bytes =
            CacheEntryCoding.magic + little(UInt64(1)) + key.digest.bytes + little(UInt32(input.count))
            + little(UInt64(0)) + input
        _ = CacheEntryCoding.decode(bytes + SHA256Digest.of(bytes), for: key, options: [])
    }

    /// Against a list that is searched from its beginning each time.
    private static let cacheMemory = FuzzTarget("cache-memory", seeds: [[0, 1, 9, 0, 2, 9, 1, 1, 0, 3, 4, 0, 2, 0, 0]])
    {
        input in
        var memory = CacheMemory()
        var model: [CacheEntry] = []
        for step in 0..<min(input.count / 3, 200) {
            let (kind, name, number) = (input[step * 3], input[step * 3 + 1], Int(input[step * 3 + 2]))
            let entry = entry(name, length: number)
            let place = model.firstIndex { $0.id == entry.id }
            switch kind % 4 {
            case 0:
                memory.insert(entry)
                if let place { model.remove(at: place) }
                model.append(entry)
            case 1:
                memory.use(entry.id)
                if let place { model.append(model.remove(at: place)) }
            case 2:
                let removed = place.map { model.remove(at: $0) }
                try expect(memory.remove(entry.id)?.entry === removed, "another one was removed")
            default:
                let limit = number * 40
                for one in memory.shrink(to: limit) {
                    try expect(model.removeFirst() === one.entry, "step \(step): it was not the oldest")
                }
                try expect(memory.total <= limit, "it has \(memory.total), not \(limit)")
            }
            try expect(memory.total == model.reduce(0) { $0 + $1.size }, "the total is \(memory.total)")
            try expect(memory.entries.count == model.count, "it is another list")
            try expect(memory[entry.id] === model.first { $0.id == entry.id }, "it has another value")
            let family = model.filter { $0.head.key == entry.head.key }
            try expect(memory.entries(of: entry.head.key).count == family.count, "a family has others")
        }
    }

    private static let keys = (0..<4).compactMap { number in
        try? CacheKey(RequestURL("http://a.test/\(number)"))
    }

    private static func entry(_ name: UInt8, length: Int) -> CacheEntry {
        var headers = HTTPHeaders()
        headers.append("ETag", value: "\"1\"")
        let head = StoredHead(
            key: keys[Int(name & 3)],
            partition: CachePartition(.protocolClass("\(name >> 2 & 3)"), for: .unnamed),
            vary: [],
            isDecoded: false,
            status: 200,
            version: .http11,
            headers: headers,
            requestTime: 0,
            responseTime: 0,
            responseMonotonic: nil,
            options: []
        )
        return CacheEntry(head: head, body: Data(repeating: 0, count: length), mayGoToDisk: true)
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
