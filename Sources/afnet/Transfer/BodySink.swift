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
        /// If the file exists, another one is made: with `.1` behind its name, or `.2` and so on.
        case makesOther
    }

    /// How many names `makesOther` tries, as in curl.
    private static let mostOthers = 101

    private(set) var path: String?
    /// How many bytes were written, heads included.
    private(set) var written: Int64 = 0
    private let mode: Mode
    private let makesFolders: Bool
    /// The place in the queue for standard output, if transfers run in parallel.
    private let place: (queue: OutputQueue, index: Int)?
    private var stream: Descriptor? { didSet { terminal = nil } }
    /// Whether the stream is a terminal: asked of the system once.
    private var terminal: Bool?
    /// Whether the file may have a validator.
    private var mayHaveValidator = false
    /// The size of the file when it was opened.
    private var formerSize: Int64?

    /// - Parameter path: The path of a file; `-` is standard output.
    init(_ path: String, mode: Mode, makesFolders: Bool = false, place: (queue: OutputQueue, index: Int)? = nil) {
        self.path = path == "-" ? nil : path
        self.mode = mode
        self.makesFolders = makesFolders
        self.place = place
    }

    var name: String { path ?? "standard output" }
    var isFile: Bool { path != nil }
    var isOpen: Bool { stream != nil }
    var isTerminal: Bool {
        guard let stream else { return false }
        let isTerminal = terminal ?? stream.isTerminal
        terminal = isTerminal
        return isTerminal
    }

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
        let stream = try file(at: path)
        self.stream = stream
        // A file that is appended to keeps its validator, and a new one has none.
        if mode == .appends {
            formerSize = try Descriptor.size(of: path)
            mayHaveValidator = true
        } else if mode == .replaces || validator != nil {
            mayHaveValidator = stream.setValidator(validator)
        }
    }

    private func file(at path: String) throws(SystemFailure) -> Descriptor {
        switch mode {
        case .replaces: return try Descriptor.opening(path, flags: O_WRONLY | O_CREAT | O_TRUNC)
        case .appends: return try Descriptor.opening(path, flags: O_WRONLY | O_CREAT | O_APPEND)
        case .makesNew: return try Descriptor.opening(path, flags: O_WRONLY | O_CREAT | O_EXCL)
        case .makesOther:
            for number in 0..<Self.mostOthers {
                let name = number == 0 ? path : "\(path).\(number)"
                do throws(SystemFailure) {
                    let file = try Descriptor.opening(name, flags: O_WRONLY | O_CREAT | O_EXCL)
                    self.path = name
                    return file
                } catch  where error.code == EEXIST {}
            }
            throw SystemFailure(code: EEXIST)
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
    /// - Parameters:
    ///   - isComplete: Whether the download is complete and needs no validator.
    ///   - time: The time that the file gets; nil for that of the last write.
    func close(isComplete: Bool, at time: Date? = nil) throws(SystemFailure) {
        guard path != nil, let stream else { return }
        if isComplete, mayHaveValidator { stream.setValidator(nil) }
        let result = Result { () throws(SystemFailure) in
            if let time { try stream.setModificationTime(Int(time.timeIntervalSince1970)) }
        }
        try stream.close()
        try result.get()
    }

    /// Removes the file, if it is one.
    func remove() {
        guard isOpen, let path, (try? Descriptor.isRegularFile(path)) == true else { return }
        unlink(path)
    }

    /// Removes the bytes that were written.
    func undo() {
        guard isOpen, let path else { return }
        switch mode {
        case .replaces: _ = truncate(path, 0)
        case .appends: if let formerSize { _ = truncate(path, off_t(formerSize)) }
        case .makesNew, .makesOther: unlink(path)
        }
    }
}

extension TransferFailure {
    @MainActor static func cannotWrite(_ sink: BodySink, because failure: SystemFailure) -> TransferFailure {
        TransferFailure(.cannotWrite, "cannot write \(sink.name): \(failure.text)")
    }
}
