package import Foundation

/// Turns failures into public errors. No other code does.
package enum ErrorMapping {
    /// The error that a task reports: Apple's code, the failing URL without user name and password, what happened and
    /// what to change in words, and the whole cause.
    package static func error(_ failure: LoadFailure, url: URL?) -> URLError {
        var details: [String: Any] = [
            NSLocalizedDescriptionKey: description(of: failure),
            NSLocalizedFailureReasonErrorKey: failure.occurrence,
            NSUnderlyingErrorKey: failure,
        ]
        details[NSLocalizedRecoverySuggestionErrorKey] = failure.advice
        if let text = url?.textWithoutUserInfo {
            details[failingURLStringKey] = text
            details[NSURLErrorFailingURLErrorKey] = URL(string: text)
        }
        return URLError(reporting: code(for: failure), details: details)
    }

    /// Apple's word for a plain cancellation: programs compare the text with it and then show no message.
    private static func description(of failure: LoadFailure) -> String {
        failure.reason == .cancelled && failure.detail == nil ? "cancelled" : failure.message
    }

    /// The value of `NSURLErrorFailingURLStringErrorKey`, which is still read although it is deprecated.
    package static let failingURLStringKey = "NSErrorFailingURLStringKey"

    package static func code(for failure: LoadFailure) -> URLError.Code {
        switch failure.reason {
        case .request: requestCode(failure.detail)
        case .resources: resourcesCode(failure.detail)
        case .timeout: .timedOut
        case .lost: .networkConnectionLost
        case .malformed: .cannotParseResponse
        case .response: .badServerResponse
        case .limit: .dataLengthExceedsMaximum
        case .decoding: decodingCode(failure.detail)
        case .tls: .secureConnectionFailed
        case .trust: trustCode(failure.detail)
        case .clientCertificate:
            failure.detail == .required ? .clientCertificateRequired : .clientCertificateRejected
        case .redirect: redirectCode(failure.detail)
        case .authentication: .userAuthenticationRequired
        case .proxy: failure.detail == .credentials ? .userAuthenticationRequired : .cannotConnectToHost
        case .body: .requestBodyStreamExhausted
        case .file: fileCode(failure.detail)
        case .cancelled: .cancelled
        case .cache: .resourceUnavailable
        case .fault: .unknown
        // Reasons are an open set, but only this module makes failures.
        default: .unknown
        }
    }

    private static func requestCode(_ detail: LoadFailure.Detail?) -> URLError.Code {
        switch detail {
        case .scheme: .unsupportedURL
        case .size: .dataLengthExceedsMaximum
        case .caller: .cannotLoadFromNetwork
        default: .badURL
        }
    }

    private static func resourcesCode(_ detail: LoadFailure.Detail?) -> URLError.Code {
        switch detail {
        case .nameNotFound: .cannotFindHost
        case .nameLookup: .dnsLookupFailed
        case .network: .notConnectedToInternet
        case .cellular: .dataNotAllowed
        default: .cannotConnectToHost
        }
    }

    private static func trustCode(_ detail: LoadFailure.Detail?) -> URLError.Code {
        switch detail {
        case .date: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownRoot: .serverCertificateHasUnknownRoot
        default: .serverCertificateUntrusted
        }
    }

    /// Apple's terms: raw data has a known coding, content data an unknown one.
    private static func decodingCode(_ detail: LoadFailure.Detail?) -> URLError.Code {
        switch detail {
        case .damaged, .truncated, .bomb, .memory: .cannotDecodeRawData
        default: .cannotDecodeContentData
        }
    }

    private static func redirectCode(_ detail: LoadFailure.Detail?) -> URLError.Code {
        switch detail {
        case .location: .redirectToNonExistentLocation
        case .scheme: .unsupportedURL
        case .body: .requestBodyStreamExhausted
        case .late: .badServerResponse
        default: .httpTooManyRedirects
        }
    }

    private static func fileCode(_ detail: LoadFailure.Detail?) -> URLError.Code {
        switch detail {
        case .create: .cannotCreateFile
        case .open: .cannotOpenFile
        case .move: .cannotMoveFile
        case .missing: .fileDoesNotExist
        case .permission: .noPermissionsToReadFile
        case .directory: .fileIsDirectory
        case .read: .cannotOpenFile
        case .changed: .requestBodyStreamExhausted
        default: .cannotWriteToFile
        }
    }
}
