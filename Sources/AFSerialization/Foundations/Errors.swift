public import Foundation

/// Where a method puts an error, as on Apple's platforms: pass `&error` of a variable of type `NSError?`, or nil.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

/// Calls a function that puts an error at a pointer, and returns that error beside the result.
package func collectingError<Result>(_ body: (NSErrorPointer) -> Result) -> (result: Result, error: NSError?) {
    var error: NSError?
    let result = withUnsafeMutablePointer(to: &error) { body($0) }
    return (result, error)
}

extension CocoaError {
    /// A body that cannot be decoded.
    static func unreadable(_ text: String) -> CocoaError {
        CocoaError(
            .propertyListReadCorrupt,
            userInfo: [NSLocalizedDescriptionKey: text, NSDebugDescriptionErrorKey: text]
        )
    }
}

extension URL {
    /// The URL without user name and password, which must not appear in errors; nil if the URL cannot be parsed.
    package var withoutCredentials: URL? {
        guard user != nil || password != nil else { return self }
        var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        parts?.user = nil
        parts?.password = nil
        return parts?.url
    }

    /// The URL for messages.
    package var textWithoutCredentials: String { withoutCredentials?.absoluteString ?? "…" }
}
