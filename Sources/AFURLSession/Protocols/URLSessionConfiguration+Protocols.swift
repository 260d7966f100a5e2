/// Classes of the program that load in place of a session.
struct ProtocolSettings: Sendable {
    /// In the order in which they are asked.
    var classes: [URLProtocol.Type] = []
}

extension URLSessionConfiguration {
    /// Subclasses of ``URLProtocol`` that are asked about each request, in order, before the session loads it itself.
    ///
    /// The first whose `canInit` says so loads the request; they are asked again at each redirect. An empty array unless
    /// set, so that `protocolClasses?.insert(MyProtocol.self, at: 0)` does what it says. What is no subclass is left out.
    /// Classes of ``URLProtocol/registerClass(_:)`` are those of ``URLSession/shared``, and of no configuration.
    public var protocolClasses: [AnyClass]? {
        get { self[\.protocols.classes] }
        set { self[\.protocols.classes] = (newValue ?? []).compactMap { $0 as? URLProtocol.Type } }
    }
}
