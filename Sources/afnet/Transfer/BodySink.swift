import Foundation
import Glibc

/// Where a body goes: a file, or standard output. Writing waits until the bytes are taken.
@MainActor final class BodySink {
    let path: String?
    private var stream: Descriptor?

    /// - Parameter path: of a file, which is replaced once there is a response; `-` is standard output.
    init(_ path: String) {
        self.path = path == "-" ? nil : path
    }

    var name: String { path ?? "standard output" }
    var isFile: Bool { path != nil }
    var isOpen: Bool { stream != nil }
    var isTerminal: Bool { stream?.isTerminal ?? false }

    func open() throws(SystemFailure) {
        stream =
            try path.map { path throws(SystemFailure) in
                try Descriptor.opening(path, O_WRONLY | O_CREAT | O_TRUNC)
            } ?? .standardOutput
    }

    func write(_ data: Data) throws(SystemFailure) {
        try stream?.write(data)
    }

    /// Some file systems tell only now that there was no room.
    func close() throws(SystemFailure) {
        if isFile { try stream?.close() }
    }
}
