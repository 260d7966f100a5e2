package import AFWire

/// A stored response without its body, which the rules decide by.
package struct StoredHead: Sendable, Equatable {
    package let key: CacheKey
    package let partition: CachePartition
    package let vary: [VaryField]
    /// The body is stored without its content coding, as the task got it.
    package let isDecoded: Bool
    package let status: Int
    package let version: HTTPVersion
    package let headers: HTTPHeaders
    /// When the request was sent and the response was received, in seconds since 1970.
    package let requestTime: Int64
    package let responseTime: Int64
    /// When the response was received on the machine's clock, if that was in this process.
    package let responseMonotonic: Int64?

    package init(
        key: CacheKey,
        partition: CachePartition,
        vary: [VaryField],
        isDecoded: Bool,
        status: Int,
        version: HTTPVersion,
        headers: HTTPHeaders,
        requestTime: Int64,
        responseTime: Int64,
        responseMonotonic: Int64?
    ) {
        self.key = key
        self.partition = partition
        self.vary = vary
        self.isDecoded = isDecoded
        self.status = status
        self.version = version
        self.headers = headers
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.responseMonotonic = responseMonotonic
    }

    /// Tells this response apart from others for the same URL. An equal one takes its place.
    package var variant: CacheDigest {
        var fields = FieldWriter()
        fields.add(partition.scope.bytes)
        fields.add((partition.credentials?.text ?? "").utf8)
        fields.add(number: isDecoded && headers.contains("Content-Encoding") ? UInt8(1) : 0)
        for field in vary {
            fields.add(field.name.utf8)
            fields.add((field.value?.text ?? "-").utf8)
        }
        return CacheDigest(of: fields.bytes)
    }

    package var control: CacheControl { CacheControl(of: headers) }
}

/// A moment on both clocks, in seconds. The calendar's clock may be set back and forth and means the same to every
/// process; the machine's only moves on.
package struct CacheInstant: Sendable, Hashable {
    /// Since 1970.
    package let wall: Int64
    /// Since a moment before this process began.
    package let monotonic: Int64

    package init(wall: Int64, monotonic: Int64) {
        self.wall = wall
        self.monotonic = monotonic
    }
}
