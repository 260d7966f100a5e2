import Glibc

/// A terminal of which this process becomes the foreground: code that opens `/dev/tty` gets it.
package struct ControllingTerminal {
    private let master: Int32

    package init?() {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        // TIOCSPTLCK, TIOCGPTN and TIOCSCTTY: macros that Swift does not import.
        var lock: Int32 = 0
        var number: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0
        else { return nil }
        let device = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        _ = setsid()
        guard device >= 0, ioctl(device, 0x540E, 0) == 0 else { return nil }
        let again = open("/dev/tty", O_RDWR | O_NOCTTY)
        guard again >= 0 else { return nil }
        close(again)
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        dup2(device, 0)
    }

    package func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(master, bytes, bytes.count)
    }

    /// Whether this appears on it: what is written or echoed gets here by way of a thread of the kernel's.
    package func shows(_ text: String) -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        var shown = ""
        repeat {
            shown += unread
            // A line break of a terminal is one character, of two scalars.
            if shown.unicodeScalars.contains(text.unicodeScalars) { return true }
            usleep(1_000)
        } while ContinuousClock.now < end
        return false
    }

    /// Whether it echoes what is typed.
    package var echoes: Bool {
        var settings = termios()
        return tcgetattr(0, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Whether nothing has appeared on it since the last time, nor does within a moment.
    package var isStill: Bool {
        usleep(100_000)
        return unread.isEmpty
    }

    private var unread: String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var text: [UInt8] = []
        while case let count = read(master, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}
