extension URLSessionConfiguration {
    /// Subclasses of ``URLProtocol`` that the session asks about each request, in order, before it loads the request
    /// itself.
    ///
    /// The first class whose `canInit` returns true loads the request; the session asks them again at each redirect. An
    /// empty array unless set, so that `protocolClasses?.insert(MyProtocol.self, at: 0)` works. The session leaves out
    /// what is no subclass. Classes of ``URLProtocol/registerClass(_:)`` belong to ``URLSession/shared``, and to no
    /// configuration.
    public var protocolClasses: [AnyClass]? {
        get { self[\.protocols.classes] }
        set { self[\.protocols.classes] = (newValue ?? []).compactMap { $0 as? URLProtocol.Type } }
    }
}
