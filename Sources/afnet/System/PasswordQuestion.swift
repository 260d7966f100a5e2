import Foundation
import Glibc

/// Asks for a password on the terminal, without echo.
enum PasswordQuestion {
    private static let interrupt = UInt8(3)

    /// Nil without a terminal. Ctrl-C interrupts the process.
    static func ask(_ question: String) -> String? {
        let device = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { return nil }
        defer { close(device) }
        var former = termios()
        // In the background, a change of the terminal would stop the program.
        guard tcgetpgrp(device) == getpgrp(), tcgetattr(device, &former) == 0 else { return nil }
        var quiet = former
        // Ctrl-C arrives as a byte: the program must restore the echo before it ends.
        quiet.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        guard tcsetattr(device, TCSANOW, &quiet) == 0 else { return nil }
        let terminal = Descriptor(number: device)
        try? terminal.write(Data(TerminalText.escaped(question).utf8))
        let answer = line(from: device)
        tcsetattr(device, TCSANOW, &former)
        try? terminal.write(Data("\n".utf8))
        if answer == nil { raise(SIGINT) }
        return answer
    }

    /// Reads to the end of the line. Nil after Ctrl-C.
    private static func line(from device: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(device, &byte, 1) == 1 {
            switch byte {
            case interrupt: return nil
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), 4: return String(decoding: bytes, as: UTF8.self)
            case 8, 0x7F: _ = bytes.popLast()
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
