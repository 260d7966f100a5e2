import AFLoop
import AFWire
import Glibc

extension LoadFailure {
    /// The body of the request could not be sent, for a reason on our side.
    init(_ failure: BodyFailure, peer: Endpoint?) {
        switch failure {
        case .file(let path, let fault): self.init(fault, of: path, peer)
        case .stream(let error):
            let cause = error.map { EscapedText("\($0.localizedDescription)").text } ?? "it gave no reason"
            self = .broken(.stream, "its stream could not be read: \(cause).", peer, error)
        case .streamIsUsed:
            self = .bodyless(
                .stream,
                "its body stream is open already, or was read before. Give every request a stream that is new."
            )
        case .length(let announced, let found, let isAtEnd):
            self = .broken(
                .length,
                "\(announced) bytes were announced, but the stream has \(isAtEnd ? "only" : "at least") \(found). "
                    + "Correct the Content-Length field, or leave it out.",
                peer
            )
        case .noStream:
            self = .bodyless(
                .exhausted,
                "nobody has a stream for its body. Answer urlSession(_:task:needNewBodyStream:), or set httpBodyStream."
            )
        case .exhausted:
            self = .broken(
                .exhausted,
                "it has to be sent again, a stream cannot be read twice, and the delegate gave no new one. Answer "
                    + "urlSession(_:task:needNewBodyStream:), or upload from a file or from memory.",
                peer
            )
        }
    }

    private init(_ fault: BodyFailure.FileFault, of path: String, _ peer: Endpoint?) {
        let name = EscapedText(path).text
        switch fault {
        case .notAFileURL:
            self = .unsent(.open, "\(name) is no URL of a file. Use URL(fileURLWithPath:).")
        case .refused(.directory):
            self = .unsent(.directory, "\(name) is a directory. Name a file in it.")
        case .refused(.notRegular):
            self = .unsent(.open, "\(name) is no regular file. Send what has no length as a stream.")
        case .refused(.system(let error)):
            self = .unsent(LoadFailure.detail(error), "\(name) cannot be read: \(error).", error.code)
        case .unreadable(let error):
            self.init(
                .file,
                .read,
                phase: .sending,
                errno: error.code,
                message: LoadFailure.sending(peer) + "\(name) could not be read on: \(error)."
            )
        case .changed(let announced, let found):
            self.init(
                .file,
                .changed,
                phase: .sending,
                message: LoadFailure.sending(peer)
                    + "\(name) was changed meanwhile: \(announced) bytes were announced, "
                    + "now it has \(found). Leave a file alone until it is sent, or send a copy of it."
            )
        }
    }

    private static func bodyless(_ detail: Detail, _ what: String) -> LoadFailure {
        LoadFailure(.body, detail, phase: .preparing, message: "The request was not sent: \(what)")
    }

    private static func broken(
        _ detail: Detail,
        _ what: String,
        _ peer: Endpoint?,
        _ error: (any Error)? = nil
    ) -> LoadFailure {
        LoadFailure(.body, detail, phase: .sending, message: sending(peer) + what, underlyingError: error)
    }

    private static func unsent(_ detail: Detail, _ what: String, _ errno: Int32? = nil) -> LoadFailure {
        LoadFailure(.file, detail, phase: .preparing, errno: errno, message: "The request was not sent: \(what)")
    }

    private static func sending(_ peer: Endpoint?) -> String {
        "Sending the body to \(peer?.text ?? "the server") failed: "
    }

    private static func detail(_ error: SystemCallError) -> Detail {
        switch error.code {
        case ENOENT, ENOTDIR: .missing
        case EACCES, EPERM: .permission
        default: .open
        }
    }
}
