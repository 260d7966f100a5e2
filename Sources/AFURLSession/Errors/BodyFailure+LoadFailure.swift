import AFLoop
import AFWire
import Glibc

extension LoadFailure {
    /// The body of the request could not be sent, for a reason on our side.
    init(_ failure: BodyFailure, peer: Endpoint?) {
        switch failure {
        case .file(let path, let fault): self.init(fault, of: path, peer)
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
