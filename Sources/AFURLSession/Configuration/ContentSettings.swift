import AFTransport
public import AFURLTypes

/// The settings of a session for coded bodies.
struct ContentSettings: Sendable {
    static let usualRatio = 250
    /// The highest ratio that can be set: a megabyte of zeros in ten bytes. Real content stays far below it.
    static let highestRatio = 100_000

    var decodes = true
    var bodyCoding = BodyCoding.identity
    var maximumRatio = ContentSettings.usualRatio

    var limits: ContentDecoder.Limits {
        ContentDecoder.Limits(ratio: min(max(maximumRatio, 1), ContentSettings.highestRatio))
    }
}

extension URLSessionConfiguration {
    /// Whether the session asks for content codings (`Accept-Encoding`) and decodes them. True. If not, a body is
    /// delivered byte for byte as it is received, its length is the one that was announced, and you may set the field
    /// yourself.
    public var decodesContent: Bool {
        get { self[\.content.decodes] }
        set { self[\.content.decodes] = newValue }
    }

    /// What makes the bodies of requests shorter on their way, unless a request has a
    /// ``/AFURLTypes/URLRequest/bodyCoding`` of its own. `identity`: nothing does, and ``/AFURLTypes/BodyCoding`` says
    /// why.
    public var bodyCoding: BodyCoding {
        get { self[\.content.bodyCoding] }
        set { self[\.content.bodyCoding] = newValue }
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
