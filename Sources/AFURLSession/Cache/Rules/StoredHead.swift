import AFWire

/// A stored response without its body, which the rules decide by.
struct StoredHead: Sendable, Equatable {
    let key: CacheKey
    let partition: CachePartition
    let vary: [VaryField]
    /// The body is stored without its content coding, as the task got it.
    let isDecoded: Bool
    let status: Int
    let version: HTTPVersion
    let headers: HTTPHeaders
    /// When the request was sent and the response was received, in seconds since 1970.
    let requestTime: Int64
    let responseTime: Int64
    /// When the response was received on the machine's clock, if that was in this process.
    let responseMonotonic: Int64?

    /// Tells this response apart from others for the same URL. An equal one takes its place.
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
