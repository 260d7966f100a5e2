import AFTLS
import AFWire
import FoundationEssentials

/// The bytes of an entry on the disk. Numbers are little-endian.
///
/// ```
///  0  magic and version      8 bytes, "AFCACHE3"
///  8  time of the response   8, seconds since 1970
/// 16  digest of the key     16
/// 32  length of the head     4
/// 36  length of the body     8
/// 44  head                   fields, each behind its length
///     body
///     SHA-256 of all before 32
/// ```
///
/// No URL is in it, which may have a secret, and no field that is one, as `Set-Cookie`. Bytes that were cut short, changed,
/// or written by another version are no entry.
enum CacheEntryCoding {
    static let magic = Array("AFCACHE3".utf8)
    private static let prefixLength = 44
    private static let digestLength = 32

    static func encode(_ entry: CacheEntry) -> [UInt8] {
        let head = encodeHead(entry)
        var prefix = FieldWriter()
        prefix.add(number: entry.head.responseTime)
        prefix.add(raw: entry.head.key.digest.bytes)
        prefix.add(number: UInt32(clamping: head.count))
        prefix.add(number: UInt64(entry.body.count))
        var bytes: [UInt8] = []
        bytes.reserveCapacity(prefixLength + head.count + entry.body.count + digestLength)
        bytes += magic
        bytes += prefix.bytes
        bytes += head
        bytes += entry.body
        bytes += SHA256Digest.of(bytes)
        return bytes
    }

    private static func encodeHead(_ entry: CacheEntry) -> [UInt8] {
        let head = entry.head
        var fields = FieldWriter()
        fields.add(head.partition.scope.bytes)
        fields.add(head.partition.audience.storedBytes)
        fields.add(number: UInt8(head.isDecoded ? 1 : 0))
        fields.add(number: UInt16(clamping: head.status))
        fields.add(number: head.version.rawValue)
        fields.add(CacheRules.lastingFields(head.headers).withBytes { Array($0) })
        fields.add(number: head.requestTime)
        fields.add(number: UInt32(clamping: head.vary.count))
        for field in head.vary {
            fields.add(field.name.utf8)
            fields.add(field.value?.bytes ?? [])
        }
        fields.add(entry.userInfo ?? Data())
        return fields.bytes
    }

    /// - Parameter key: The entry of another one is none.
    static func decode(_ bytes: [UInt8], for key: CacheKey, options: CacheOptions) -> CacheEntry? {
        guard let parts = parts(bytes), parts.key == key.digest else { return nil }
        return decodeHead(
            FieldReader(parts.head),
            of: key,
            responseTime: parts.responseTime,
            body: Data(parts.body),
            options: options
        )
    }

    /// When the response of an entry came, in seconds since 1970.
    static func responseTime(_ bytes: [UInt8]) -> Int64? { parts(bytes)?.responseTime }

    private struct Parts {
        let responseTime: Int64
        let key: ShortDigest
        let head: ArraySlice<UInt8>
        let body: ArraySlice<UInt8>
    }

    private static func parts(_ bytes: [UInt8]) -> Parts? {
        guard bytes.count >= prefixLength + digestLength, bytes.starts(with: magic) else { return nil }
        let digest = bytes.withUnsafeBytes {
            SHA256Digest.of(UnsafeRawBufferPointer(rebasing: $0[..<($0.count - digestLength)]))
        }
        guard bytes.suffix(digestLength).elementsEqual(digest) else { return nil }
        var entry = FieldReader(bytes[magic.count..<(bytes.count - digestLength)])
        guard let responseTime = entry.number(Int64.self), let key = entry.take(16).flatMap(ShortDigest.init(bytes:)),
            let headLength = entry.number(UInt32.self), let bodyLength = entry.number(UInt64.self),
            let head = entry.take(Int(headLength)), let bodyCount = Int(exactly: bodyLength),
            let body = entry.take(bodyCount), entry.isAtEnd
        else { return nil }
        return Parts(responseTime: responseTime, key: key, head: head, body: body)
    }

    private static func decodeHead(
        _ head: FieldReader,
        of key: CacheKey,
        responseTime: Int64,
        body: Data,
        options: CacheOptions
    ) -> CacheEntry? {
        var fields = head
        guard let scope = fields.field(), let stored = fields.field(),
            let audience = CachePartition.Audience(stored: stored, options: options),
            let isDecoded = fields.number(UInt8.self), let status = fields.number(UInt16.self),
            let version = fields.number(UInt8.self).flatMap(HTTPVersion.init(rawValue:)),
            let headers = fields.field().flatMap(HTTPHeaders.init(checkingBlock:)),
            let requestTime = fields.number(Int64.self), let vary = decodeVary(&fields),
            let userInfo = fields.field(), fields.isAtEnd, isDecoded <= 1, (100...999).contains(status)
        else { return nil }
        let kept = StoredHead(
            key: key,
            partition: CachePartition(TrustScope(stored: scope), stored: audience),
            vary: vary,
            isDecoded: isDecoded == 1,
            status: Int(status),
            version: version,
            headers: headers,
            requestTime: requestTime,
            responseTime: responseTime,
            responseMonotonic: nil,
            options: options,
            audience: audience
        )
        return CacheEntry(head: kept, body: body, userInfo: userInfo.isEmpty ? nil : Data(userInfo), mayGoToDisk: true)
    }

    private static func decodeVary(_ fields: inout FieldReader) -> [VaryField]? {
        guard let count = fields.number(UInt32.self) else { return nil }
        var vary: [VaryField] = []
        for _ in 0..<count {
            guard let name = fields.field(), let value = fields.field() else { return nil }
            let digest = ShortDigest(bytes: value[...])
            guard !name.isEmpty, digest != nil || value.isEmpty else { return nil }
            vary.append(VaryField(name: String(decoding: name, as: UTF8.self), value: digest))
        }
        return vary
    }
}
