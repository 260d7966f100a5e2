package import AFLoop
import AFTransport
package import AFWire
import Glibc

extension LoadFailure {
    /// A file that is sent, or the file of a download, could not be used.
    package init(_ failure: FileFailure, peer: Endpoint?) {
        let name = EscapedText(failure.path).text
        let quoted = "\u{201C}\(name)\u{201D}"
        let cause = failure.cause
        let why = cause.map { "\($0)" } ?? "it gave no reason"
        switch failure.fault {
        case .notAFileURL:
            self = .unsent(.open, what: "\(name) is no URL of a file.", advice: "Use URL(fileURLWithPath:).")
        case .folder: self = .unsent(.directory, what: "\(name) is a directory.", advice: "Name a file in it.")
        case .notRegular:
            self = .unsent(.open, what: "\(name) is no regular file.", advice: "Send what has no length as a stream.")
        case .open: self = .unsent(Self.detail(cause), what: "\(name) cannot be read: \(why).", errno: cause?.code)
        case .read:
            self = .halfSent(.read, what: "\(name) could not be read on: \(why).", peer: peer, errno: cause?.code)
        case .changed(let announced, let found):
            self = .halfSent(
                .changed,
                what: "\(name) was changed meanwhile: \(announced) bytes were announced, now it has \(found).",
                peer: peer,
                advice: "Leave a file alone until it is sent, or send a copy of it."
            )
        case .openFolder:
            self = .unstored(.create, what: "the folder \(quoted) cannot be used", failure: failure, phase: .preparing)
        case .create:
            self = .unstored(.create, what: "no file can be made in \(quoted)", failure: failure, phase: .preparing)
        case .write: self = .unstored(nil, what: "writing to its file in \(quoted) failed", failure: failure)
        case .close:
            self = .unstored(nil, what: "the file in \(quoted) could not be written to the end", failure: failure)
        case .name: self = .unstored(.move, what: "the file in \(quoted) could not be given its name", failure: failure)
        }
    }

    private static func unsent(_ detail: Detail, what: String, errno: Int32? = nil, advice: String? = nil)
        -> LoadFailure
    {
        LoadFailure(
            .file,
            detail: detail,
            phase: .preparing,
            errno: errno,
            message: "The request was not sent: \(what)",
            advice: advice
        )
    }

    private static func halfSent(
        _ detail: Detail,
        what: String,
        peer: Endpoint?,
        errno: Int32? = nil,
        advice: String? = nil
    ) -> LoadFailure {
        LoadFailure(.file, detail: detail, phase: .sending, errno: errno, message: sending(peer) + what, advice: advice)
    }

    private static func unstored(
        _ detail: Detail?,
        what: String,
        failure: FileFailure,
        phase: Phase = .receivingBody
    ) -> LoadFailure {
        let why = failure.cause.map { ": \(SystemErrorText.of($0.code))" } ?? ""
        return LoadFailure(
            .file,
            detail: detail,
            phase: phase,
            errno: failure.cause?.code,
            message: "The download could not be stored: \(what)\(why).",
            advice: advice(for: failure)
        )
    }

    package static func detail(_ error: SystemCallError?) -> Detail {
        switch error?.code {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .permission
        default: .open
        }
    }

    /// The download would have stored a part as the whole.
    package static func unaskedPart(_ status: Int, from peer: Endpoint?) -> LoadFailure {
        LoadFailure(
            .malformed,
            detail: .status,
            phase: .receivingBody,
            message: "Loading from \(peer?.text ?? "the server") failed: it answered \(status), which is about a part "
                + "of the file, but no part was asked for.",
            advice: "Set a Range field if a part is what you want."
        )
    }

    /// The rest of a download did not match its `Content-Range`.
    package static func brokenRest(from peer: Endpoint?) -> LoadFailure {
        LoadFailure(
            .malformed,
            detail: .framing,
            phase: .receivingBody,
            message: "Receiving the rest of the file from \(peer?.text ?? "the server") failed: it sent more or fewer "
                + "bytes than its Content-Range says. What was there before is kept.",
            advice: "Try again, or load the whole."
        )
    }

    package init(_ flaw: ResumeFlaw) {
        let what =
            switch flaw {
            case .notResumeData: "it was not made by this library"
            case .otherVersion(let version, let read): "its version is \(version), and this library reads \(read)"
            case .tooLong(let limit): "it is longer than \(limit) bytes"
            case .damaged: "it was damaged or changed"
            }
        self.init(
            .decoding,
            phase: .preparing,
            message: "The download was not resumed: the resume data cannot be used, because \(what).",
            advice: "Download the whole with a request."
        )
    }

    private static func advice(for failure: FileFailure) -> String {
        switch (failure.fault, failure.cause?.code) {
        case (_, ENOSPC), (_, EDQUOT):
            "Make room there, or set temporaryFolder of the configuration to a larger disk."
        case (_, EFBIG): "Raise the limit on file sizes (ulimit -f), or choose another file system."
        case (_, EMFILE), (_, ENFILE):
            "Raise the limit on open files, or run fewer downloads at a time."
        case (_, EIO): "Look after that disk."
        default: "Set temporaryFolder of the configuration to a folder that exists and may be written to."
        }
    }
}
