import AFTLS
import AFWire
import FoundationEssentials

/// The bytes of an entry's file. Numbers are little-endian.
///
/// ```
///  0  magic and version      8 bytes, "AFCACHE2"
///  8  length of the head     4
/// 12  length of the body     8
/// 20  head                   fields, each behind its length
///     body
///     SHA-256 of all before 32
/// ```
///
/// A file that was cut short, changed, or written by another version is no entry.
enum CacheEntryCoding {
    static let magic = Array("AFCACHE2".utf8)
    private static let prefixLength = 20
    private static let digestLength = 32

    static func encode(_ entry: CacheEntry) -> [UInt8] {
        let head = encodeHead(entry)
        var file = FieldWriter()
        file.add(number: UInt32(clamping: head.count))
        file.add(number: UInt64(entry.body.count))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(prefixLength + head.count + entry.body.count + digestLength)
        bytes += magic
        bytes += file.bytes
        bytes += head
        bytes += entry.body
        bytes += SHA256Digest.of(bytes)
        return bytes
    }

    private static func encodeHead(_ entry: CacheEntry) -> [UInt8] {
        let head = entry.head
        var fields = FieldWriter()
        fields.add(head.key.bytes)
        fields.add(head.partition.scope.bytes)
        fields.add(number: UInt8(head.isDecoded ? 1 : 0))
        fields.add(number: UInt16(clamping: head.status))
        fields.add(number: head.version.rawValue)
        fields.add(head.headers.withBytes { Array($0) })
        fields.add(number: head.requestTime)
        fields.add(number: head.responseTime)
        fields.add(number: UInt32(clamping: head.vary.count))
        for field in head.vary {
            fields.add(field.name.utf8)
            fields.add((field.value?.text ?? "").utf8)
        }
        fields.add(entry.userInfo ?? Data())
        return fields.bytes
    }

    static func decode(_ bytes: [UInt8]) -> CacheEntry? {
        guard bytes.count >= prefixLength + digestLength, bytes.starts(with: magic) else { return nil }
        let digest = bytes.withUnsafeBytes {
            SHA256Digest.of(UnsafeRawBufferPointer(rebasing: $0[..<($0.count - digestLength)]))
        }
        guard bytes.suffix(digestLength).elementsEqual(digest) else { return nil }
        var file = FieldReader(bytes[magic.count..<(bytes.count - digestLength)])
        guard let headLength = file.number(UInt32.self), let bodyLength = file.number(UInt64.self),
            let head = file.take(Int(headLength)), let bodyCount = Int(exactly: bodyLength),
            let body = file.take(bodyCount), file.isAtEnd
        else { return nil }
        return decodeHead(FieldReader(head), body: Data(body))
    }

    private static func decodeHead(_ head: FieldReader, body: Data) -> CacheEntry? {
        var fields = head
        guard let key = fields.field().flatMap(CacheKey.init(stored:)), let origin = fields.field(),
            let isDecoded = fields.number(UInt8.self), let status = fields.number(UInt16.self),
            let version = fields.number(UInt8.self).flatMap(HTTPVersion.init(rawValue:)),
            let headers = fields.field().flatMap(HTTPHeaders.init(checkingBlock:)),
            let requestTime = fields.number(Int64.self), let responseTime = fields.number(Int64.self),
            let vary = decodeVary(&fields), let userInfo = fields.field(), fields.isAtEnd,
            isDecoded <= 1, (100...999).contains(status)
        else { return nil }
        let stored = StoredHead(
            key: key,
            partition: CachePartition(TrustScope(stored: origin)),
            vary: vary,
            isDecoded: isDecoded == 1,
            status: Int(status),
            version: version,
            headers: headers,
            requestTime: requestTime,
            responseTime: responseTime,
            responseMonotonic: nil
        )
        return CacheEntry(stored, body: body, userInfo: userInfo.isEmpty ? nil : Data(userInfo), mayGoToDisk: true)
    }

    private static func decodeVary(_ fields: inout FieldReader) -> [VaryField]? {
        guard let count = fields.number(UInt32.self) else { return nil }
        var vary: [VaryField] = []
        for _ in 0..<count {
            guard let name = fields.field(), let value = fields.field() else { return nil }
            let digest = CacheDigest(value)
            guard !name.isEmpty, digest != nil || value.isEmpty else { return nil }
            vary.append(VaryField(name: String(decoding: name, as: UTF8.self), value: digest))
        }
        return vary
    }
}
