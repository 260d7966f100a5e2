import Foundation

/// What is said to people: on standard error, line by line, harmless for terminals.
struct Console {
    let isSilent: Bool
    private let stream = Descriptor.standardError

    init(isSilent: Bool) {
        self.isSilent = isSilent
    }

    init(_ arguments: Arguments) {
        self.init(isSilent: arguments.isSilent && !arguments.showsErrors)
    }

    var isTerminal: Bool { stream.isTerminal }

    func report(_ message: String) {
        if !isSilent { say("afnet: \(message)") }
    }

    /// - Parameter isVerbose: with everything that is known about it.
    func report(_ failure: TransferFailure, isVerbose: Bool) {
        report(failure.message)
        guard isVerbose else { return }
        for line in failure.details { say("* \(line)") }
    }

    func say(_ line: String) {
        write(TerminalText.escaped(line) + "\n")
    }

    /// Nothing can be done, and no one told, when standard error cannot be written.
    func write(_ text: String) {
        try? stream.write(Data(text.utf8))
    }
}
