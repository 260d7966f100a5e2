import AFNetworking
import Foundation

/// Why there is no image.
struct ImageDownloadFailure: Error, Sendable {
    let error: any Error
    var request: URLRequest
    var response: URLResponse?

    static func withoutURL(_ request: URLRequest) -> ImageDownloadFailure {
        let details = [NSLocalizedDescriptionKey: "The request for an image has no URL."]
        return ImageDownloadFailure(error: URLError(.badURL, userInfo: details), request: request)
    }

    /// - Parameter request: The description of a request is its URL without user name and password.
    static func cancelled(_ request: URLRequest) -> ImageDownloadFailure {
        let details = [
            NSLocalizedDescriptionKey: "cancelled",
            NSLocalizedFailureReasonErrorKey: "ImageDownloader cancelled URL request: \(request)",
        ]
        return ImageDownloadFailure(error: URLError(.cancelled, userInfo: details), request: request)
    }

    static func tooLong(_ request: URLRequest, limit: Int64) -> any Error {
        let advice = "raise maximumResponseSize of the downloader if you expect images of that size"
        let text = "The image at \(request) is longer than \(limit) bytes: \(advice)."
        return URLError(.dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: text])
    }

    static func noImage(_ object: Any?, _ request: URLRequest) -> any Error {
        let what = object.map { "\(type(of: $0))" } ?? "nothing"
        let advice = "its response serializer must be an ImageResponseSerializer"
        let text = "The session manager made \(what) of the response from \(request), and no image: \(advice)."
        return URLError(.cannotDecodeContentData, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
