public import Foundation

/// The settings of a request that concern cookies.
package struct RequestCookies: Hashable, Sendable {
    package var isHandled = true
    package var mainDocumentURL: URL?
}

extension URLRequest {
    /// Whether the session sends cookies with this request, and stores those of its response. True.
    public var httpShouldHandleCookies: Bool {
        get { contents.cookies.isHandled }
        set { change { $0.cookies.isHandled = newValue } }
    }

    /// The main document, of which the loaded resource is a part. Cookies of other sites than that document's are
    /// neither sent nor stored under ``HTTPCookie/AcceptPolicy/onlyFromMainDocumentDomain``. Nil, the default, if the
    /// resource is its own main document.
    public var mainDocumentURL: URL? {
        get { contents.cookies.mainDocumentURL }
        set { change { $0.cookies.mainDocumentURL = newValue } }
    }
}
