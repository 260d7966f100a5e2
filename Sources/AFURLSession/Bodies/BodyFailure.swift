import AFLoop

/// Why a body could not be sent, for reasons of its own.
enum BodyFailure: Error, Sendable {
    /// What was wrong with a file.
    enum FileFault: Sendable {
        case notAFileURL
        case refused(ReadableFile.Refusal)
        case unreadable(SystemCallError)
        /// It has not the content any more that was announced.
        case changed(announced: Int64, found: Int64)
    }

    case file(path: String, FileFault)
}
