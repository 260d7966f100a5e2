import Glibc

/// The size of a terminal.
package struct TerminalSize: Sendable, Equatable {
    package let columns: Int
    package let rows: Int
    /// The size of a character in pixels.
    package let cell: (width: Int, height: Int)

    package init(columns: Int, rows: Int, cell: (width: Int, height: Int) = (8, 16)) {
        self.columns = columns
        self.rows = rows
        self.cell = cell
    }

    /// The size of the terminal behind a descriptor; 80 × 24 if it is unknown.
    init(of descriptor: Int32) {
        var size = winsize()
        let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
        guard isKnown else {
            self.init(columns: 80, rows: 24)
            return
        }
        let (columns, rows) = (Int(size.ws_col), Int(size.ws_row))
        // Many terminals do not report pixels.
        let hasPixels = size.ws_xpixel > 0 && size.ws_ypixel > 0
        let cell = hasPixels ? (max(Int(size.ws_xpixel) / columns, 1), max(Int(size.ws_ypixel) / rows, 1)) : (8, 16)
        self.init(columns: columns, rows: rows, cell: cell)
    }

    package static func == (one: TerminalSize, other: TerminalSize) -> Bool {
        one.columns == other.columns && one.rows == other.rows && one.cell == other.cell
    }
}
