import AFLoop
import AFTransport
import AFWire
import Foundation
import Glibc

// Rows for files: those that are sent, those of downloads, and what `file:` and `data:` URLs name.
extension LoadFailure {
    init(_ failure: FileFailure, peer: Endpoint?) {
        let name = EscapedText(failure.path).text
        let quoted = "\u{201C}\(name)\u{201D}"
        let cause = failure.cause
        let why = cause.map { "\($0)" } ?? "it gave no reason"
        switch failure.fault {
        case .notAFileURL:
            self = .unsent(.fileOpen, what: "\(name) is no URL of a file.", advice: "Use URL(fileURLWithPath:).")
        case .folder: self = .unsent(.fileDirectory, what: "\(name) is a directory.", advice: "Name a file in it.")
        case .notRegular:
            self = .unsent(
                .fileOpen,
                what: "\(name) is no regular file.",
                advice: "Send what has no length as a stream."
            )
        case .open: self = .unsent(.opening(cause), what: "\(name) cannot be read: \(why).", errno: cause?.code)
        case .read:
            self.init(
                .fileRead,
                phase: .sending,
                errno: cause?.code,
                message: "\(Self.sending(peer))\(name) could not be read on: \(why)."
            )
        case .changed(let announced, let found):
            self.init(
                .fileChanged,
                phase: .sending,
                message: "\(Self.sending(peer))\(name) was changed meanwhile: \(announced) bytes were announced, now "
                    + "it has \(found).",
                advice: "Leave a file alone until it is sent, or send a copy of it."
            )
        case .openFolder, .create, .write, .close, .name:
            self.init(storing: failure, in: quoted, elsewhere: "set temporaryFolder of the configuration to")
        }
    }

    /// - Parameters:
    ///   - folder: How the message names the folder.
    ///   - elsewhere: How to choose another folder, without its name.
    private init(storing failure: FileFailure, in folder: String, elsewhere: String) {
        let (kind, phase, what): (Kind, Phase, String) =
            switch failure.fault {
            case .openFolder: (.fileCreate, .preparing, "the folder \(folder) cannot be used")
            case .create: (.fileCreate, .preparing, "no file can be made in \(folder)")
            case .close: (.file, .receivingBody, "the file in \(folder) could not be written to the end")
            case .read: (.fileRead, .delivering, "the file in \(folder) could not be read again")
            case .name: (.fileMove, .receivingBody, "the file in \(folder) could not be given its name")
            default: (.file, .receivingBody, "writing to its file in \(folder) failed")
            }
        let cause = failure.cause
        let advice =
            switch cause?.code {
            case ENOSPC, EDQUOT: "Make room there, or \(elsewhere) a larger disk."
            case EFBIG: "Raise the limit on file sizes (ulimit -f), or choose another file system."
            case EMFILE, ENFILE: "Raise the limit on open files, or run fewer downloads at a time."
            case EIO: "Look after that disk."
            default: "Make it one that exists and may be written to, or \(elsewhere) another."
            }
        self.init(
            kind,
            phase: phase,
            errno: cause?.code,
            message:
                "The download could not be stored: \(what)\(cause.map { ": \(SystemErrorText.of($0.code))" } ?? "").",
            advice: advice
        )
    }

    init(_ failure: PartsFailure) {
        switch failure {
        case .file(let failure):
            let folder = (failure.path as NSString).deletingLastPathComponent
            self.init(
                storing: failure,
                in: "\u{201C}\(EscapedText(folder).text)\u{201D}",
                elsewhere: "download to"
            )
        case .inUse(let path):
            self.init(
                .fileCreate,
                phase: .preparing,
                message: "The download did not begin: another one writes \(EscapedText(path).text).",
                advice: "Wait for the other, or name another file."
            )
        case .taken(let path):
            self.init(
                .fileCreate,
                phase: .preparing,
                message: "The download did not begin: \(EscapedText(path).text) is there, and no download has made it.",
                advice: "Remove it, or name another file."
            )
        case .changing(let times):
            self.init(
                .response,
                phase: .receivingBody,
                message: "The download was given up: the server had another file each of \(times) times.",
                advice: "Download it with one request."
            )
        case .digest(let expected, let found):
            self.init(
                .decodingDigest,
                phase: .delivering,
                message:
                    "The file was removed: its SHA-\(expected.bits) is \(found?.hexadecimal ?? "unknown"), and not "
                    + "\(expected.hexadecimal).",
                advice: "Try again. If that does not help, compare the digest with its source."
            )
        }
    }

    private static func unsent(_ kind: Kind, what: String, errno: Int32? = nil, advice: String? = nil) -> Self {
        LoadFailure(
            kind,
            phase: .preparing,
            errno: errno,
            message: "The request was not sent: \(what)",
            advice: advice
        )
    }

    /// The failure to load a `data:` URL or a file.
    init(_ failure: LocalFailure) {
        switch failure {
        case .upload:
            self = .unloaded(.requestScheme, what: "no server takes its body.", advice: "Upload to http or https.")
        case .method: self = .unloaded(.requestScheme, what: "only GET and HEAD mean something there.")
        case .data(let flaw): self.init(flaw)
        case .path(let flaw): self.init(flaw)
        case .file(let failure): self.init(loading: failure)
        case .unreadable:
            self = .unloaded(.fileRead, what: "the file could not be read to its end.", advice: "Try again.")
        }
    }

    private init(_ flaw: DataURL.Flaw) {
        switch flaw {
        case .noComma: self = .unloaded(.request, what: "its data: URL has no comma in front of the data.")
        case .mediaType: self = .unloaded(.request, what: "the media type of its data: URL is malformed.")
        case .percent:
            self = .unloaded(.request, what: "a % in its data: URL begins no triplet.", advice: "Encode it as %25.")
        case .base64:
            self = .unloaded(
                .request,
                what: "the data of its data: URL is no base64 with padding and without line breaks."
            )
        case .tooLong(let limit):
            self = .unloaded(
                .limit,
                what: "its data: URL holds more than \(limit) bytes.",
                advice: "Raise maximumBodyInMemory."
            )
        }
    }

    private init(_ flaw: FilePath.Flaw) {
        switch flaw {
        case .host:
            self = .unloaded(
                .requestScheme,
                what: "its file: URL names another host. Only files of this machine are read."
            )
        case .relative: self = .unloaded(.request, what: "its file: URL has no absolute path.")
        case .encoding:
            self = .unloaded(.request, what: "the path of its file: URL holds what no path can, or is no UTF-8.")
        }
    }

    private init(loading failure: FileFailure) {
        let name = EscapedText(failure.path).text
        let cause = failure.cause
        let why = cause.map { ": \($0)" } ?? ""
        switch failure.fault {
        case .folder: self = .unloaded(.fileDirectory, what: "\(name) is a directory.", advice: "Name a file in it.")
        case .notRegular:
            self = .unloaded(.fileOpen, what: "\(name) is no regular file: it has no length, and perhaps no end.")
        case .changed:
            self = .unloaded(
                .fileRead,
                what: "\(name) was changed while it was read.",
                advice: "Try again, or read a copy of it."
            )
        case .open: self = .unloaded(.opening(cause), what: "\(name) cannot be read\(why).", errno: cause?.code)
        case .read, .notAFileURL, .openFolder, .create, .write, .close, .name:
            self = .unloaded(.fileRead, what: "\(name) could not be read to its end\(why).", errno: cause?.code)
        }
    }

    private static func unloaded(_ kind: Kind, what: String, errno: Int32? = nil, advice: String? = nil) -> Self {
        LoadFailure(
            kind,
            phase: .preparing,
            errno: errno,
            message: "The request was not loaded: \(what)",
            advice: advice
        )
    }
}

extension LoadFailure.Kind {
    fileprivate static func opening(_ error: SystemCallError?) -> Self {
        switch error?.code {
        case ENOENT, ENOTDIR: .fileMissing
        case EACCES, EPERM: .filePermission
        default: .fileOpen
        }
    }
}
