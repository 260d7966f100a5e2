import Foundation
import Glibc

/// A pseudo-terminal; `device` is the program's side.
struct Terminal {
    struct Unavailable: Error {}

    let device: FileHandle
    private let master: Int32

    init() throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN: macros that Swift does not import.
        var lock: Int32 = 0
        var index: Int32 = 0
        guard master >= 0, ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &index) == 0
        else { throw Unavailable() }
        let number = open("/dev/pts/\(index)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard number >= 0 else { throw Unavailable() }
        device = FileHandle(fileDescriptor: number, closeOnDealloc: true)
    }

    func resize(columns: Int) {
        var size = winsize(ws_row: 24, ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    /// Everything that was written, which must fit into the terminal's buffer of 4 KiB.
    func finish() -> Data {
        let data = read()
        close(master)
        return data
    }

    /// What was written since the last time.
    func read() -> Data {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var data = Data()
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        while case let count = Glibc.read(master, &buffer, buffer.count), count > 0 { data += buffer[..<count] }
        return data
    }
}
