import Foundation

/// Where the demo writes: in colour on a terminal, unless `NO_COLOR` is set, and plainly elsewhere.
final class Screen: @unchecked Sendable {
    enum Style: Int {
        case plain = 0
        case bold = 1
        case dim = 2
        case good = 32
        case bar = 36
    }

    static let width = 100
    private static let margin = 20

    private let isTerminal: Bool
    private let isColoured: Bool
    private let write: @Sendable (String) -> Void
    private let lock = NSLock()
    /// The bar that is on the screen, and when it was drawn.
    private var bar: (text: String, drawn: ContinuousClock.Instant)?

    /// - Parameters:
    ///   - isTerminal: Whether a line can be drawn again. Otherwise bars appear once, as they end.
    ///   - write: Receives the text.
    init(isTerminal: Bool, isColoured: Bool, write: @escaping @Sendable (String) -> Void) {
        self.isTerminal = isTerminal
        self.isColoured = isColoured
        self.write = write
    }

    static var standardOutput: Screen {
        let isTerminal = isatty(STDOUT_FILENO) == 1
        let refusal = ProcessInfo.processInfo.environment["NO_COLOR"] ?? ""
        return Screen(isTerminal: isTerminal, isColoured: isTerminal && refusal.isEmpty) { text in
            print(text, terminator: "")
            fflush(nil)
        }
    }

    // MARK: - Lines

    func say(_ text: String, _ style: Style = .plain) { write(styled(text, style) + "\n") }

    /// Something that was done, and is as it should be.
    func row(_ title: String, _ text: String, _ figure: String = "") {
        let gap = String(repeating: " ", count: max(1, Self.width - Self.margin - text.count - figure.count))
        let name = title.padding(toLength: Self.margin - 4, withPad: " ", startingAt: 0)
        let end = figure.isEmpty ? "" : gap + styled(figure, .dim)
        write(styled("ok", .good) + "  " + styled(name, .bold) + text + end + "\n")
    }

    /// More about it, in as many lines as it takes.
    func more(_ text: String, _ style: Style = .plain) {
        for line in Self.wrapped(text, to: Self.width - Self.margin) {
            write(String(repeating: " ", count: Self.margin) + styled(line, style) + "\n")
        }
    }

    // MARK: - Bars

    /// Draws how far something is. Any thread.
    func draw(_ title: String, _ done: Int64, of total: Int64, _ remark: String = "") {
        lock.withLock {
            let text = barText(title, done, total, remark)
            let isDue = bar.map { ContinuousClock.now - $0.drawn > .milliseconds(30) } ?? true
            if isTerminal, isDue || done == total { write("\r\u{1B}[K" + text) }
            bar = (text, isDue ? .now : bar?.drawn ?? .now)
        }
    }

    /// Leaves the bar as it is.
    func endBar() {
        lock.withLock {
            guard let bar else { return }
            write(isTerminal ? "\r\u{1B}[K\(bar.text)\n" : "\(bar.text)\n")
            self.bar = nil
        }
    }

    private func barText(_ title: String, _ done: Int64, _ total: Int64, _ remark: String) -> String {
        let length = 30
        let filled = total > 0 ? Int(Double(length) * min(Double(done) / Double(total), 1)) : 0
        let name = "    " + title.padding(toLength: Self.margin - 4, withPad: " ", startingAt: 0)
        let full = styled(String(repeating: "#", count: filled), .bar)
        let empty = String(repeating: "-", count: length - filled)
        return "\(name)[\(full)\(styled(empty, .dim))] \(Self.megabytes(done)) of \(Self.megabytes(total)) MB\(remark)"
    }

    // MARK: - Text

    private func styled(_ text: String, _ style: Style) -> String {
        isColoured && style != .plain && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    static func text(_ time: Duration) -> String {
        let milliseconds = time / .milliseconds(1)
        return milliseconds < 1000
            ? String(format: "%.1f ms", milliseconds) : String(format: "%.2f s", milliseconds / 1000)
    }

    private static func megabytes(_ count: Int64) -> String { String(format: "%.1f", Double(count) / 1e6) }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let line = lines[lines.count - 1]
            if line.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
