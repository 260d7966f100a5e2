import Glibc

/// The terminal of the process, without echo and without waiting for the end of a line.
enum QuietTerminal {
    static let interrupt = UInt8(3)

    /// Asks a question, and restores the terminal.
    ///
    /// - Parameters:
    ///   - flags: More flags for opening the terminal.
    ///   - question: Gets the terminal's descriptor, and throws after Ctrl-C, which then interrupts the process.
    /// - Returns: Nil without a terminal, or if the process ignores the interruption.
    static func ask<Answer>(flags: Int32 = 0, question: (Int32) throws(CancellationError) -> Answer) -> Answer? {
        let device = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | flags)
        guard device >= 0 else { return nil }
        defer { close(device) }
        var former = termios()
        // In the background, a change of the terminal would stop the program.
        guard tcgetpgrp(device) == getpgrp(), tcgetattr(device, &former) == 0 else { return nil }
        var quiet = former
        // Ctrl-C arrives as a byte: the program must restore the echo before it ends.
        quiet.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        guard tcsetattr(device, TCSANOW, &quiet) == 0 else { return nil }
        let answer = try? question(device)
        tcsetattr(device, TCSANOW, &former)
        // Not `raise`: most threads of Swift and Dispatch block signals.
        if answer == nil { kill(getpid(), SIGINT) }
        return answer
    }
}
