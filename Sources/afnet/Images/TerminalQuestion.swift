import Foundation
import Glibc

/// Asks a terminal which graphics it can draw.
package enum TerminalQuestion {
    /// kitty's query, which other terminals ignore, and the query for device attributes, which every terminal answers.
    private static let text = "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\\u{1B}[c"

    /// The best mode of the terminal. Blocks if the terminal does not answer. Ctrl-C interrupts the process.
    package static func ask(patience: Duration = .milliseconds(500)) -> GraphicsMode {
        QuietTerminal.ask(flags: O_NONBLOCK) { device throws(CancellationError) in
            let question = Array(text.utf8)
            guard write(device, question, question.count) == question.count else { return .blocks }
            return mode(answer: try answer(from: device, within: patience))
        } ?? .blocks
    }

    private static func answer(from device: Int32, within patience: Duration) throws(CancellationError) -> [UInt8] {
        let end = ContinuousClock.now + patience
        var answer: [UInt8] = []
        while !isComplete(answer), answer.count < 4096 {
            let rest = Int32(max((end - .now) / .milliseconds(1), 0))
            var entry = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, rest) > 0 else { break }
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = read(device, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
            if buffer[..<count].contains(QuietTerminal.interrupt) { throw CancellationError() }
        }
        return answer
    }

    /// Whether the answer to the second query, `ESC [ ? … c`, has arrived.
    package static func isComplete(_ answer: [UInt8]) -> Bool { attributes(answer) != nil }

    private static func attributes(_ answer: [UInt8]) -> ArraySlice<UInt8>? {
        let opening = Array("\u{1B}[?".utf8)
        for start in answer.indices where answer[start...].starts(with: opening) {
            let rest = answer[(start + opening.count)...]
            if let end = rest.firstIndex(of: UInt8(ascii: "c")) { return rest[..<end] }
        }
        return nil
    }

    package static func mode(answer: [UInt8]) -> GraphicsMode {
        let words = String(decoding: answer, as: UTF8.self)
        if words.contains("\u{1B}_Gi=31;OK") { return .kitty }
        let attributes = String(decoding: attributes(answer) ?? [], as: UTF8.self).split(separator: ";")
        return attributes.contains("4") ? .sixel : .blocks
    }
}
