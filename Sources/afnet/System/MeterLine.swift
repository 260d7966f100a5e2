/// The line of a terminal that shows progress, and is drawn over itself.
@MainActor final class MeterLine {
    private let console: Console
    /// How many columns the text has that is drawn; 0 if there is none.
    private var drawn = 0

    init(_ console: Console) {
        self.console = console
    }

    /// The columns that the terminal has now.
    var width: Int { console.width }

    func draw(_ text: String) {
        console.write(start + text + "\u{1B}[K")
        drawn = text.count
    }

    /// Leaves what is drawn, and goes on below.
    func end() {
        if drawn > 0 { console.write("\n") }
        drawn = 0
    }

    /// Removes what is drawn.
    func clear() {
        if drawn > 0 { console.write(start + "\u{1B}[K") }
        drawn = 0
    }

    /// Goes to the beginning of what is drawn. A terminal that has become narrower shows it in several rows.
    private var start: String {
        let rows = (max(drawn, 1) - 1) / max(width, 1)
        return rows > 0 ? "\r\u{1B}[\(rows)A\u{1B}[J" : "\r"
    }
}
