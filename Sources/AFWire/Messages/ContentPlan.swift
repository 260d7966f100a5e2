/// What to do about the content codings of a body.
package enum ContentPlan: Equatable, Sendable {
    /// curl, urllib3 and undici stop at five as well; no server needs as many.
    package static let maximumCodings = 5

    /// Hand the body on as it comes.
    case asItIs
    /// Undo these, which the server applied in this order.
    case decode([ContentCoding])
    /// Refuse the body: a server that applies so many codings wants to keep us busy.
    case tooMany

    /// Counts the codings of all fields together: a limit for each field would be none.
    ///
    /// If there is one coding that we cannot undo, we undo none: the field then still says what the body is. A part of
    /// a representation is a part of its coded bytes, which cannot be decoded by themselves and must not be spliced
    /// with decoded ones (RFC 9110 §14.2).
    package init(_ headers: HTTPHeaders, status: Int) {
        var count = 0
        var codings: [ContentCoding] = []
        var isUnderstood = status != 206
        headers.forEach { name, value in
            guard ByteScanning.equalsIgnoringCase(name, lowercase: "content-encoding") else { return }
            ByteScanning.forEachListElement(of: value) { element in
                // RFC 9110 §5.6.1: empty elements do not count.
                guard !element.isEmpty else { return }
                count += 1
                guard count <= ContentPlan.maximumCodings,
                    !ByteScanning.equalsIgnoringCase(element, lowercase: "identity")
                else {
                    return
                }
                if let coding = ContentCoding(element) { codings.append(coding) } else { isUnderstood = false }
            }
        }
        if count > ContentPlan.maximumCodings {
            self = .tooMany
        } else {
            self = isUnderstood && !codings.isEmpty ? .decode(codings) : .asItIs
        }
    }

    /// Whether what arrives has another length than what is handed on.
    package var changesLength: Bool {
        switch self {
        case .asItIs: false
        case .decode, .tooMany: true
        }
    }
}
