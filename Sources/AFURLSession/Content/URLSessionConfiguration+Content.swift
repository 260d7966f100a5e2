extension URLSessionConfiguration {
    /// Whether content codings are asked for (`Accept-Encoding`) and undone. True. If not, a body is handed on byte for
    /// byte as it comes, its length is the one that was announced, and the field is left to you.
    public var decodesContent: Bool {
        get { self[\.content.decodes] }
        set { self[\.content.decodes] = newValue }
    }

    /// How many times longer a body may become when its content coding is undone, once 16 MiB of it were decoded. 250.
    ///
    /// A body that becomes longer fails its task with `URLError.cannotDecodeRawData`: a few hundred bytes can be made
    /// to fill any memory. Values below 1 count as 1, values above 100 000 as that. Bodies in memory are also bounded
    /// by ``maximumBodyInMemory``, which counts what was decoded.
    public var maximumContentRatio: Int {
        get { self[\.content.maximumRatio] }
        set { self[\.content.maximumRatio] = newValue }
    }
}
