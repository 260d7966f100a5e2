import Foundation
import Glibc

/// Asks for a password on the terminal, without echo.
package enum PasswordQuestion {
    /// Nil without a terminal. Ctrl-C interrupts the process.
    package static func ask(_ question: String) -> String? {
        QuietTerminal.ask { device throws(CancellationError) in
            let terminal = Descriptor(number: device)
            try? terminal.write(Data(TerminalText.escaped(question).utf8))
            defer { try? terminal.write(Data("\n".utf8)) }
            return try line(from: device)
        }
    }

    /// Reads to the end of the line.
    private static func line(from device: Int32) throws(CancellationError) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while read(device, &byte, 1) == 1 {
            switch byte {
            case QuietTerminal.interrupt: throw CancellationError()
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"), 4: return String(decoding: bytes, as: UTF8.self)
            case 8, 0x7F: _ = bytes.popLast()
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
