import AFLoop
import AFWire
import Glibc

extension LoadFailure {
    /// A file of a download could not be used.
    init(_ failure: FileFailure) {
        let (what, detail) = Self.words(for: failure)
        let why = failure.cause.map { ": \(SystemErrorText.of($0.code))" } ?? ""
        self.init(
            .file,
            detail,
            phase: failure.action == .openFolder || failure.action == .create ? .preparing : .receivingBody,
            errno: failure.cause?.code,
            message: "The download could not be stored: \(what)\(why). \(Self.advice(for: failure))"
        )
    }

    /// A download would take a part for the whole.
    static func unaskedPart(_ status: Int, from peer: Endpoint?) -> LoadFailure {
        LoadFailure(
            .malformed,
            .status,
            phase: .receivingBody,
            message: "Loading from \(peer?.text ?? "the server") failed: it answered \(status), which is about a part "
                + "of the file, but no part was asked for. Set a Range field if a part is what you want."
        )
    }

    /// The rest of a download was not what its `Content-Range` said.
    static func brokenRest(from peer: Endpoint?) -> LoadFailure {
        LoadFailure(
            .malformed,
            .framing,
            phase: .receivingBody,
            message: "Receiving the rest of the file from \(peer?.text ?? "the server") failed: it sent more or fewer "
                + "bytes than its Content-Range says. What was there before is kept; try again, or load the whole."
        )
    }

    init(_ flaw: ResumeRecord.Flaw) {
        let what =
            switch flaw {
            case .notResumeData: "it was not made by this library"
            case .otherVersion(let version): "its version is \(version), and this library reads \(ResumeRecord.version)"
            case .tooLong: "it is longer than \(ResumeRecord.maximumLength) bytes"
            case .damaged: "it was damaged or changed"
            }
        self.init(
            .decoding,
            phase: .preparing,
            message: "The download was not resumed: the resume data cannot be used, because \(what). "
                + "Download the whole with a request."
        )
    }

    private static func words(for failure: FileFailure) -> (String, Detail?) {
        let folder = "\u{201C}\(EscapedText(failure.folder).text)\u{201D}"
        return switch failure.action {
        case .openFolder: ("the folder \(folder) cannot be used", .create)
        case .distrustFolder: ("the folder \(folder) is open to other users, or is not ours", .open)
        case .create: ("no file can be made in \(folder)", .create)
        case .write: ("writing to its file in \(folder) failed", nil)
        case .close: ("the file in \(folder) could not be written to the end", nil)
        case .name: ("the file in \(folder) could not be given its name", .move)
        }
    }

    private static func advice(for failure: FileFailure) -> String {
        switch (failure.action, failure.cause?.code) {
        case (_, Cause.noSpace), (_, Cause.quota):
            "Make room there, or set temporaryFolder of the configuration to a larger disk."
        case (_, Cause.tooBig): "Raise the limit on file sizes (ulimit -f), or choose another file system."
        case (_, Cause.noDescriptors), (_, Cause.noSystemDescriptors):
            "Raise the limit on open files, or run fewer downloads at a time."
        case (.distrustFolder, _):
            "Remove it, or set temporaryFolder of the configuration to a folder that only you may write to."
        case (_, Cause.inputOutput): "Look after that disk."
        default: "Set temporaryFolder of the configuration to a folder that exists and may be written to."
        }
    }
}

/// Error numbers a user can do something about.
private enum Cause {
    static let noSpace = ENOSPC
    static let quota = EDQUOT
    static let tooBig = EFBIG
    static let noDescriptors = EMFILE
    static let noSystemDescriptors = ENFILE
    static let inputOutput = EIO
}
