import AFBase
import Foundation

/// Errors of request serializers, as AFNetworking numbers them.
enum RequestError {
    static let domain = "com.alamofire.error.serialization.request"

    /// - Parameters:
    ///   - reason: What is wrong; a whole sentence.
    ///   - advice: What to change.
    static func make(
        _ code: URLError.Code,
        reason: String,
        advice: String = "",
        underlying: (any Error)? = nil
    ) -> NSError {
        var userInfo: [String: Any] = [
            NSLocalizedFailureReasonErrorKey: reason,
            NSLocalizedDescriptionKey: "The request could not be made: \(reason)\(advice.isEmpty ? "" : " ")\(advice)",
        ]
        if !advice.isEmpty { userInfo[NSLocalizedRecoverySuggestionErrorKey] = advice }
        if let underlying { userInfo[NSUnderlyingErrorKey] = underlying }
        return NSError(domain: domain, code: code.rawValue, userInfo: userInfo)
    }

    /// - Parameter isRelative: Whether the text, which may come from outside, was to be resolved against a base URL.
    static func unusableURL(_ text: String, isRelative: Bool = false) -> NSError {
        make(
            .badURL,
            reason: "The URL string \(quoted(text, withoutServer: isRelative)) could not be parsed.",
            advice: "Escape what may not stand in a URL."
        )
    }

    static var withoutURL: NSError { make(.badURL, reason: "The request has no URL.") }

    /// The text without query and fragment, and without what may be a password.
    private static func quoted(_ text: String, withoutServer: Bool) -> String {
        let place = text.prefix { $0 != "?" && $0 != "#" }
        guard let slashes = place.firstRange(of: "//") else {
            return "\"\((place.contains("@") ? "..." : String(place)).asPeerText)\""
        }
        let path = place[slashes.upperBound...].firstIndex(of: "/") ?? place.endIndex
        let server = place[slashes.upperBound..<path]
        // Anything but a host and a number may be a user name with a password.
        let isPlain = !server.contains("@") && server.wholeMatch(of: /[^:]*(:[0-9]*)?/) != nil
        let shown = isPlain && !withoutServer ? server : "..."
        return "\"\("\(place[..<slashes.upperBound])\(shown)\(place[path...])".asPeerText)\""
    }

    static var leavesBase: NSError {
        make(
            .badURL,
            reason: "The URL string leads to another server than the base URL.",
            advice: "Begin it with one slash at most, or give the whole URL with its scheme."
        )
    }

    static var foreignScheme: NSError {
        make(
            .unsupportedURL,
            reason: "The scheme of the URL string is neither http nor https, nor that of the base URL.",
            advice: "Put ./ before a path that has a colon in its first part."
        )
    }

    static var namelessParts: NSError {
        make(
            .cannotDecodeContentData,
            reason: "The `parameters` argument has no names for the parts of a multipart form.",
            advice: "Use a dictionary with text as keys."
        )
    }

    static var unusableQuery: NSError {
        make(.badURL, reason: "The query cannot stand in a URL.", advice: "Escape what the query block returns.")
    }

    static var notJSON: NSError {
        make(
            .cannotDecodeContentData,
            reason: "The `parameters` argument is not valid JSON.",
            advice: "Use dictionaries with text as keys, arrays, text, finite numbers, Booleans and null."
        )
    }

    static var nestedTooDeep: NSError {
        make(.cannotDecodeContentData, reason: "The parameters are nested more than \(ParameterNode.deepest) deep.")
    }

    static func unencodable(_ encoding: String.Encoding) -> NSError {
        make(
            .cannotDecodeContentData,
            reason: "The query has characters that the encoding \(encoding) does not have.",
            advice: "Escape them, or set another stringEncoding."
        )
    }

    static func notPropertyList(_ format: PropertyListSerialization.PropertyListFormat) -> NSError {
        if format == .openStep {
            return make(
                .cannotDecodeContentData,
                reason: "Property lists cannot be written in the OpenStep format.",
                advice: "Use .xml or .binary."
            )
        }
        return make(
            .cannotDecodeContentData,
            reason: "The `parameters` argument is not a valid property list.",
            advice: "Use dictionaries with text as keys, arrays, text, finite numbers, Booleans, dates and data."
        )
    }

    static func noBody(for method: String) -> NSError {
        make(
            .dataLengthExceedsMaximum,
            reason: "A multipart form is a body, and \(ASCII.uppered(method)) requests have none.",
            advice: "Use POST, PUT or PATCH."
        )
    }
}
