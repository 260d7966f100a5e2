import AFLoop
import AFTransport
import AFWire
import Glibc

extension LoadFailure {
    /// The failure to load a `data:` URL or a file.
    package init(_ failure: LocalFailure) {
        switch failure {
        case .upload:
            self = .unloaded(
                .request,
                detail: .scheme,
                what: "no server takes its body.",
                advice: "Upload to http or https."
            )
        case .method: self = .unloaded(.request, detail: .scheme, what: "only GET and HEAD mean something there.")
        case .data(let flaw): self.init(flaw)
        case .path(let flaw): self.init(flaw)
        case .file(let failure): self.init(loading: failure)
        case .unreadable:
            self = .unloaded(.file, detail: .read, what: "the file could not be read to its end.", advice: "Try again.")
        }
    }

    private init(_ flaw: DataURL.Flaw) {
        switch flaw {
        case .noComma: self = .unloaded(.request, detail: nil, what: "its data: URL has no comma in front of the data.")
        case .mediaType: self = .unloaded(.request, detail: nil, what: "the media type of its data: URL is malformed.")
        case .percent:
            self = .unloaded(
                .request,
                detail: nil,
                what: "a % in its data: URL begins no triplet.",
                advice: "Encode it as %25."
            )
        case .base64:
            self = .unloaded(
                .request,
                detail: nil,
                what: "the data of its data: URL is no base64 with padding and without line breaks."
            )
        case .tooLong(let limit):
            self = .unloaded(
                .limit,
                detail: nil,
                what: "its data: URL holds more than \(limit) bytes.",
                advice: "Raise maximumBodyInMemory."
            )
        }
    }

    private init(_ flaw: FilePath.Flaw) {
        switch flaw {
        case .host:
            self = .unloaded(
                .request,
                detail: .scheme,
                what: "its file: URL names another host. Only files of this machine are read."
            )
        case .relative: self = .unloaded(.request, detail: nil, what: "its file: URL has no absolute path.")
        case .encoding:
            self = .unloaded(
                .request,
                detail: nil,
                what: "the path of its file: URL holds what no path can, or is no UTF-8."
            )
        }
    }

    private init(loading failure: FileFailure) {
        let name = EscapedText(failure.path).text
        let why = failure.cause.map { ": \($0)" } ?? ""
        switch failure.fault {
        case .folder:
            self = .unloaded(.file, detail: .directory, what: "\(name) is a directory.", advice: "Name a file in it.")
        case .notRegular:
            self = .unloaded(
                .file,
                detail: .open,
                what: "\(name) is no regular file: it has no length, and perhaps no end."
            )
        case .changed:
            self = .unloaded(
                .file,
                detail: .read,
                what: "\(name) was changed while it was read.",
                advice: "Try again, or read a copy of it."
            )
        case .open:
            self = .unloaded(
                .file,
                detail: LoadFailure.detail(failure.cause),
                what: "\(name) cannot be read\(why).",
                failure: failure
            )
        case .read, .notAFileURL, .openFolder, .create, .write, .close, .name:
            self = .unloaded(
                .file,
                detail: .read,
                what: "\(name) could not be read to its end\(why).",
                failure: failure
            )
        }
    }

    private static func unloaded(
        _ reason: Reason,
        detail: Detail?,
        what: String,
        failure: FileFailure? = nil,
        advice: String? = nil
    ) -> LoadFailure {
        LoadFailure(
            reason,
            detail: detail,
            phase: .preparing,
            errno: failure?.cause?.code,
            message: "The request was not loaded: \(what)",
            advice: advice
        )
    }
}
