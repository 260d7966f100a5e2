extension URLSessionConfiguration {
    /// Whether the session asks for content codings (`Accept-Encoding`) and decodes them. True. If not, a body is
    /// delivered byte for byte as it is received, its length is the one that was announced, and you may set the field
    /// yourself.
    public var decodesContent: Bool {
        get { self[\.content.decodes] }
        set { self[\.content.decodes] = newValue }
    }

    /// How many times longer a body may become by decoding its content coding, once 16 MiB of it were decoded. 250.
    ///
    /// A body that becomes longer fails its task with `URLError.cannotDecodeRawData`: a few hundred bytes can decode to
    /// more than any memory holds. Values below 1 count as 1, values above 100 000 as that. Bodies in memory are also
    /// limited by ``maximumBodyInMemory``, which counts decoded bytes.
    public var maximumContentRatio: Int {
        get { self[\.content.maximumRatio] }
        set { self[\.content.maximumRatio] = newValue }
    }
}
