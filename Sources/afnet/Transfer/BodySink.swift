import Foundation
import Glibc

/// Where a body goes: a file, or standard output. Writing waits until the bytes are taken.
@MainActor final class BodySink {
    let path: String?
    private let appends: Bool
    private var stream: Descriptor?

    /// - Parameters:
    ///   - path: of a file, which is replaced once there is a response; `-` is standard output.
    ///   - appends: the file stays, and what comes is added to it.
    init(_ path: String, appends: Bool) {
        self.path = path == "-" ? nil : path
        self.appends = appends
    }

    var name: String { path ?? "standard output" }
    var isFile: Bool { path != nil }
    var isOpen: Bool { stream != nil }
    var isTerminal: Bool { stream?.isTerminal ?? false }

    func open() throws(SystemFailure) {
        stream =
            try path.map { path throws(SystemFailure) in
                try Descriptor.opening(path, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC))
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
