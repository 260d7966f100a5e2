import Foundation

/// What the caller of a download in parts asks for.
struct PartedCall: Sendable {
    let session: URLSession
    let request: URLRequest
    let path: String
    let parts: DownloadParts
    let progress: Progress?
    let delegate: (any URLSessionTaskDelegate)?
    let context: CallerContext
}
