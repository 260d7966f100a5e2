import AFWire

/// A stored response without its body: what the rules decide by.
struct StoredHead: Sendable, Equatable {
    let key: CacheKey
    let partition: CachePartition
    let vary: [VaryField]
    /// The body is kept without its content coding, as the task saw it.
    let isDecoded: Bool
    let status: Int
    let version: HTTPVersion
    let headers: HTTPHeaders
    /// When the request left and the response came, in seconds since 1970.
    let requestTime: Int64
    let responseTime: Int64
    /// When it came on the machine's clock, if that was in this process.
    let responseMonotonic: Int64?

    /// Tells this one from others for the same URL. Equal ones take each other's place.
    var variant: CacheDigest {
        var fields = CacheFieldWriter()
        fields.add(partition.origin)
        fields.add((partition.credentials?.text ?? "").utf8)
        fields.add(number: isDecoded && headers.contains("Content-Encoding") ? UInt8(1) : 0)
        for field in vary {
            fields.add(field.name.utf8)
            fields.add((field.value?.text ?? "-").utf8)
        }
        return CacheDigest(of: fields.bytes)
    }

    var control: CacheControl { CacheControl(of: headers) }
}
