import CAFLinux
import Glibc

/// Whose process this is, and of which program.
package enum ProcessOrigin {
    /// The home that the list of users names for this process's user; nil if the user has no entry. May wait for a list
    /// that is on the network.
    package static func homeOfUser() -> String? {
        let buffer = UnsafeMutableBufferPointer<CChar>.allocate(capacity: Int(PATH_MAX))
        defer { buffer.deallocate() }
        guard let start = buffer.baseAddress, caf_home_of_user(start, buffer.count) == 0 else { return nil }
        return String(validatingCString: start)
    }

    /// The path of the program that runs; nil if the system does not tell, as without `/proc`. If the file was removed or
    /// replaced meanwhile, its path ends in ` (deleted)`.
    package static func pathOfProgram() -> String? {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Int(PATH_MAX), alignment: 1)
        defer { buffer.deallocate() }
        let length = caf_path_of_program(buffer.baseAddress, buffer.count)
        guard length > 0 else { return nil }
        return String(decoding: buffer[..<Int(length)], as: UTF8.self)
    }
}
