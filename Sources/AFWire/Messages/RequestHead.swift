/// The first line and the fields of a request, as sent or as received.
///
/// A plain value: the code that fills it in has validated each part.
package struct RequestHead: Sendable, Equatable {
    /// The method, case-sensitive.
    package var method: String

    /// The request target as it stands on the wire, in any of its four forms.
    package var target: String

    package var headers: HTTPHeaders

    package init(method: String, target: String, headers: HTTPHeaders = HTTPHeaders()) {
        self.method = method
        self.target = target
        self.headers = headers
    }
}
