import Foundation
import Glibc

/// Where a body goes: a file, or standard output. Writing waits until the bytes are taken.
@MainActor final class BodySink {
    enum Mode {
        /// The file is replaced once there is a response.
        case replaces
        /// The file stays, and what comes is added to it.
        case appends
        /// There must be no such file.
        case makesNew
    }

    private(set) var path: String?
    /// What was written, heads included.
    private(set) var written: Int64 = 0
    private let mode: Mode
    private let makesFolders: Bool
    /// Standard output is shared; this is our place in it.
    private let place: (queue: OutputQueue, index: Int)?
    private var stream: Descriptor?
    /// How long the file was when it was opened.
    private var formerSize: Int64?

    /// - Parameter path: of a file; `-` is standard output.
    init(
        _ path: String,
        _ mode: Mode,
        makesFolders: Bool = false,
        place: (queue: OutputQueue, index: Int)? = nil
    ) {
        self.path = path == "-" ? nil : path
        self.mode = mode
        self.makesFolders = makesFolders
        self.place = place
    }

    var name: String { path ?? "standard output" }
    var isFile: Bool { path != nil }
    var isOpen: Bool { stream != nil }
    var isTerminal: Bool { stream?.isTerminal ?? false }

    /// Whether the server may say how it is called.
    var mayBeRenamed: Bool { mode == .makesNew }

    /// Another name in the same folder, before it is opened.
    func rename(to name: String) {
        guard let path else { return }
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? ""
        self.path = folder + name
    }

    /// - Parameter validator: What the resource is recognized by if its transfer breaks off.
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
        // What is appended to keeps the one it was begun with.
        if mode == .appends {
            formerSize = try Descriptor.size(of: path)
        } else {
            Descriptor.setValidator(validator, of: path)
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

    /// Some file systems tell only now that there was no room.
    ///
    /// - Parameter isComplete: There is nothing to go on with.
    func close(isComplete: Bool) throws(SystemFailure) {
        guard let path, let stream else { return }
        if isComplete { Descriptor.setValidator(nil, of: path) }
        try stream.close()
    }

    /// Takes back what was written to a file. What a file is replaced with, the next try replaces.
    func undo() {
        guard isOpen, let path else { return }
        switch mode {
        case .replaces: break
        case .appends: if let formerSize { _ = truncate(path, off_t(formerSize)) }
        case .makesNew: unlink(path)
        }
    }
}

/// Standard output for transfers that run at the same time: what is not first waits in a file, so that bodies stay
/// whole and in the order of the URLs.
@MainActor final class OutputQueue {
    /// Each that waits is an open file, and of those a process usually may have 1024, its connections included.
    private static let mostWaiting = 100

    private var turn = 0
    private var waiting: [Int: Descriptor] = [:]
    private var finished: Set<Int> = []

    /// Whether the next one may begin: what is under way can always end, and with the first of it others get their turn.
    var hasRoom: Bool { waiting.count < Self.mostWaiting }

    func write(_ data: Data, of index: Int) throws(SystemFailure) {
        if index == turn { return try Descriptor.standardOutput.write(data) }
        if waiting[index] == nil { waiting[index] = try Descriptor.temporary() }
        try waiting[index]?.write(data)
    }

    /// What came of this one is complete: the next ones may go on.
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
