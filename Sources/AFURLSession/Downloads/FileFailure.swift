import AFLoop

/// A file of a download could not be used.
struct FileFailure: Error, Sendable, Hashable {
    enum Action: Sendable {
        /// The folder that files gather in.
        case openFolder
        /// It is there, but others can get at what is in it.
        case distrustFolder
        case create
        case write
        case close
        case name
    }

    let action: Action
    /// The folder the file is in, or would have been.
    let folder: String
    let cause: SystemCallError?

    init(_ action: Action, in folder: String, _ cause: SystemCallError? = nil) {
        self.action = action
        self.folder = folder
        self.cause = cause
    }
}
