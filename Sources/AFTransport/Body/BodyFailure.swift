package import AFLoop

/// Why the body, and not the connection, kept a request from being sent.
package enum BodyFailure: Error, Sendable {
    case file(FileFailure)
    /// The stream's own error.
    case stream((any Error)?)
    /// The stream was open already, or another task has taken it.
    case streamIsUsed
    /// The body has another number of bytes than the request's `Content-Length` says.
    case length(announced: Int64, found: Int64, isAtEnd: Bool)
    /// Neither the caller nor the delegate has a stream for the first time the body is sent.
    case noStream
    /// The delegate has no stream to send the body again.
    case exhausted
}

/// Why a file could not be used: one that is sent, or the file of a download.
package struct FileFailure: Error, Sendable, Hashable {
    package enum Fault: Sendable, Hashable {
        // What is sent. The path is the user's.
        case notAFileURL
        case folder
        /// A FIFO, a socket, a device.
        case notRegular
        case open
        case read
        /// The file has changed since its length was announced.
        case changed(announced: Int64, found: Int64)

        // Downloads. The path is that of their folder.
        case openFolder
        case create
        case write
        case close
        case name
    }

    package let fault: Fault
    package let path: String
    package let cause: SystemCallError?

    package init(_ fault: Fault, at path: String, _ cause: SystemCallError? = nil) {
        self.fault = fault
        self.path = path
        self.cause = cause
    }
}
