import Foundation

/// What is said to people: on standard error, line by line, harmless for terminals.
struct Console {
    let isSilent: Bool
    /// In front of each line but errors, which say themselves what they are about.
    private let prefix: String
    private let stream = Descriptor.standardError

    init(isSilent: Bool, prefix: String = "") {
        self.isSilent = isSilent
        self.prefix = prefix
    }

    init(_ arguments: Arguments, prefix: String = "") {
        self.init(isSilent: arguments.isSilent && !arguments.showsErrors, prefix: prefix)
    }

    var isTerminal: Bool { stream.isTerminal }

    /// Columns of the terminal.
    var width: Int { TerminalSize(of: stream.number).columns }

    func report(_ message: String) {
        if !isSilent { write(TerminalText.escaped("afnet: \(message)") + "\n") }
    }

    /// - Parameter isVerbose: with everything that is known about it.
    func report(_ failure: TransferFailure, isVerbose: Bool) {
        report(failure.message)
        guard isVerbose else { return }
        for line in failure.details { say("* \(line)") }
    }

    func say(_ line: String) {
        write(TerminalText.escaped(prefix + line) + "\n")
    }

    /// Nothing can be done, and no one told, when standard error cannot be written.
    func write(_ text: String) {
        try? stream.write(Data(text.utf8))
    }
}
