package import AFLoop

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

    package init(_ fault: Fault, at path: String, cause: SystemCallError? = nil) {
        self.fault = fault
        self.path = path
        self.cause = cause
    }
}
