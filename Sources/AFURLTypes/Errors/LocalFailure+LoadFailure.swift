import AFLoop
import AFTransport
import AFWire
import Glibc

extension LoadFailure {
    /// The failure to load a `data:` URL or a file.
    package init(_ failure: LocalFailure) {
        switch failure {
        case .upload:
            self = .unloaded(.request, .scheme, "no server takes its body.", advice: "Upload to http or https.")
        case .method: self = .unloaded(.request, .scheme, "only GET and HEAD mean something there.")
        case .data(let flaw): self.init(flaw)
        case .path(let flaw): self.init(flaw)
        case .file(let failure): self.init(loading: failure)
        case .unreadable: self = .unloaded(.file, .read, "the file could not be read to its end.", advice: "Try again.")
        }
    }

    private init(_ flaw: DataURL.Flaw) {
        switch flaw {
        case .noComma: self = .unloaded(.request, nil, "its data: URL has no comma in front of the data.")
        case .mediaType: self = .unloaded(.request, nil, "the media type of its data: URL is malformed.")
        case .percent:
            self = .unloaded(.request, nil, "a % in its data: URL begins no triplet.", advice: "Encode it as %25.")
        case .base64:
            self = .unloaded(
                .request,
                nil,
                "the data of its data: URL is no base64 with padding and without line breaks."
            )
        case .tooLong(let limit):
            self = .unloaded(
                .limit,
                nil,
                "its data: URL holds more than \(limit) bytes.",
                advice: "Raise maximumBodyInMemory."
            )
        }
    }

    private init(_ flaw: FilePath.Flaw) {
        switch flaw {
        case .host:
            self = .unloaded(
                .request,
                .scheme,
                "its file: URL names another host. Only files of this machine are read."
            )
        case .relative: self = .unloaded(.request, nil, "its file: URL has no absolute path.")
        case .encoding:
            self = .unloaded(.request, nil, "the path of its file: URL holds what no path can, or is no UTF-8.")
        }
    }

    private init(loading failure: FileFailure) {
        let name = EscapedText(failure.path).text
        let why = failure.cause.map { ": \($0)" } ?? ""
        switch failure.fault {
        case .folder: self = .unloaded(.file, .directory, "\(name) is a directory.", advice: "Name a file in it.")
        case .notRegular:
            self = .unloaded(.file, .open, "\(name) is no regular file: it has no length, and perhaps no end.")
        case .changed:
            self = .unloaded(
                .file,
                .read,
                "\(name) was changed while it was read.",
                advice: "Try again, or read a copy of it."
            )
        case .open: self = .unloaded(.file, LoadFailure.detail(failure.cause), "\(name) cannot be read\(why).", failure)
        case .read, .notAFileURL, .openFolder, .create, .write, .close, .name:
            self = .unloaded(.file, .read, "\(name) could not be read to its end\(why).", failure)
        }
    }

    private static func unloaded(
        _ reason: Reason,
        _ detail: Detail?,
        _ what: String,
        _ failure: FileFailure? = nil,
        advice: String? = nil
    ) -> LoadFailure {
        LoadFailure(
            reason,
            detail,
            phase: .preparing,
            errno: failure?.cause?.code,
            message: "The request was not loaded: \(what)",
            advice: advice
        )
    }
}
