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

    /// Everything that was written, which must fit into the terminal's buffer of 4 KiB.
    func finish() -> Data {
        var buffer = [UInt8](repeating: 0, count: 4096)
        var data = Data()
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        while case let count = read(master, &buffer, buffer.count), count > 0 { data += buffer[..<count] }
        close(master)
        return data
    }
}
