import Foundation
import Glibc

/// Where a body goes: a file, or standard output. A write waits until all bytes are written.
@MainActor final class BodySink {
    enum Mode {
        /// The file is replaced when the response begins.
        case replaces
        /// The body is appended to the file.
        case appends
        /// The file must not exist.
        case makesNew
    }

    private(set) var path: String?
    /// How many bytes were written, heads included.
    private(set) var written: Int64 = 0
    private let mode: Mode
    private let makesFolders: Bool
    /// The place in the queue for standard output, if transfers run in parallel.
    private let place: (queue: OutputQueue, index: Int)?
    private var stream: Descriptor?
    /// The size of the file when it was opened.
    private var formerSize: Int64?

    /// - Parameter path: The path of a file; `-` is standard output.
    init(_ path: String, _ mode: Mode, makesFolders: Bool = false, place: (queue: OutputQueue, index: Int)? = nil) {
        self.path = path == "-" ? nil : path
        self.mode = mode
        self.makesFolders = makesFolders
        self.place = place
    }

    var name: String { path ?? "standard output" }
    var isFile: Bool { path != nil }
    var isOpen: Bool { stream != nil }
    var isTerminal: Bool { stream?.isTerminal ?? false }

    /// Whether the server may name the file.
    var mayBeRenamed: Bool { mode == .makesNew }

    /// Gives the file another name in the same folder. Call it before `open`.
    func rename(to name: String) {
        guard let path else { return }
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        self.path = folder + name
    }

    /// - Parameter validator: The validator of the resource, for `--resume` if the transfer breaks off.
    func open(recognizedBy validator: String? = nil) throws(SystemFailure) {
        guard let path else {
            stream = .standardOutput
            return
        }
        if makesFolders { try Descriptor.makeFolders(above: path) }
        let flags =
            switch mode {
            case .replaces: O_TRUNC
            case .appends: O_APPEND
            case .makesNew: O_EXCL
            }
        let stream = try Descriptor.opening(path, O_WRONLY | O_CREAT | flags)
        self.stream = stream
        // A file that is appended to keeps its validator.
        if mode == .appends {
            formerSize = try Descriptor.size(of: path)
        } else {
            stream.setValidator(validator)
        }
    }

    func write(_ data: Data) throws(SystemFailure) {
        guard let stream else { return }
        written += Int64(data.count)
        if let place, !isFile {
            try place.queue.write(data, of: place.index)
        } else {
            try stream.write(data)
        }
    }

    /// Closes the file. Some file systems report a full disk only now.
    ///
    /// - Parameter isComplete: Whether the download is complete and needs no validator.
    func close(isComplete: Bool) throws(SystemFailure) {
        guard path != nil, let stream else { return }
        if isComplete { stream.setValidator(nil) }
        try stream.close()
    }

    /// Removes the bytes that were written.
    func undo() {
        guard isOpen, let path else { return }
        switch mode {
        case .replaces: _ = truncate(path, 0)
        case .appends: if let formerSize { _ = truncate(path, off_t(formerSize)) }
        case .makesNew: unlink(path)
        }
    }
}

/// Standard output for transfers that run in parallel. All but the first wait in files, so that bodies stay whole and
/// in the order of the URLs.
@MainActor final class OutputQueue {
    /// Each waiting transfer needs an open file, and a process usually may have 1024, connections included.
    private static let mostWaiting = 100

    private var turn = 0
    private var waiting: [Int: Descriptor] = [:]
    private var finished: Set<Int> = []

    /// Whether the next transfer may begin. Running transfers can always finish, and make room.
    var hasRoom: Bool { waiting.count < Self.mostWaiting }

    func write(_ data: Data, of index: Int) throws(SystemFailure) {
        if index == turn { return try Descriptor.standardOutput.write(data) }
        if waiting[index] == nil { waiting[index] = try Descriptor.temporary() }
        try waiting[index]?.write(data)
    }

    /// The output of this transfer is complete: lets the next ones through.
    func finish(_ index: Int) throws(SystemFailure) {
        finished.insert(index)
        while finished.remove(turn) != nil {
            turn += 1
            guard let file = waiting.removeValue(forKey: turn) else { continue }
            let result = Result { () throws(SystemFailure) in try file.copyFromStart(to: .standardOutput) }
            try file.close()
            try result.get()
        }
    }
}

extension TransferFailure {
    @MainActor static func cannotWrite(_ sink: BodySink, _ failure: SystemFailure) -> TransferFailure {
        TransferFailure(.cannotWrite, "cannot write \(sink.name): \(failure.text)")
    }
}
