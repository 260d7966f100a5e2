import AFNetworking
import Foundation

/// Why there is no image.
struct ImageDownloadFailure: Error, Sendable {
    let error: any Error
    var request: URLRequest
    var response: URLResponse?

    static func withoutURL(_ request: URLRequest) -> ImageDownloadFailure {
        ImageDownloadFailure(error: ClientFailure.imageWithoutURL.urlError(for: nil), request: request)
    }

    /// - Parameter request: The description of a request is its URL without user name and password.
    static func cancelled(_ request: URLRequest) -> ImageDownloadFailure {
        let error = ClientFailure.imageCancelled("\(request)").urlError(for: request.url)
        return ImageDownloadFailure(error: error, request: request)
    }

    static func tooLong(_ request: URLRequest, limit: Int64) -> any Error {
        ClientFailure.imageTooLong("\(request)", limit: limit).urlError(for: request.url)
    }

    static func noImage(_ object: Any?, request: URLRequest) -> any Error {
        let what = object.map { "\(type(of: $0))" } ?? "nothing"
        let advice = "its response serializer must be an ImageResponseSerializer"
        let text = "The session manager made \(what) of the response from \(request), and no image: \(advice)."
        return URLError(.cannotDecodeContentData, userInfo: [NSLocalizedDescriptionKey: text])
    }
}
