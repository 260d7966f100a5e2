import AFFaults
import Foundation
import Glibc

/// The network of a process that was started in a namespace of its own: nothing but a loopback interface.
package enum OwnNetwork {
    static let variable = "AFNET_TORTURE_NETWORK"

    /// This process is in one.
    package static let isOwn = ProcessInfo.processInfo.environment[variable] != nil

    /// What a command begins with that is run in one; nil if the system does not let us have any.
    static let prefix: [String]? = {
        let rights = geteuid() == 0 ? [] : ["--user", "--map-root-user"]
        let command = ["/usr/bin/unshare"] + rights + ["--net"]
        let status = try? ChildProcess.runAndWait(command[0], Array(command[1...]) + ["true"], environment: [:])
        return status == 0 ? command : nil
    }()

    /// Nothing is done to a network that is not our own.
    package static func connect() { setLoopback(isUp: true) }
    package static func disconnect() { setLoopback(isUp: false) }

    // Of netdevice(7).
    private static let readFlags: UInt = 0x8913
    private static let setFlags: UInt = 0x8914
    private static let setAddress: UInt = 0x8916
    private static let up: Int16 = 1

    /// Without an address nothing is sent, and nothing waits for an answer. The kernel gives it back when it is up.
    private static func setLoopback(isUp: Bool) {
        guard isOwn else { return }
        let socket = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(socket) }
        var request = [UInt8](repeating: 0, count: 40)
        request.replaceSubrange(0..<2, with: "lo".utf8)
        request.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            if !isUp {
                bytes.storeBytes(of: Int16(AF_INET), toByteOffset: 16, as: Int16.self)
                _ = ioctl(socket, setAddress, base)
            }
            guard ioctl(socket, readFlags, base) == 0 else { return }
            let flags = bytes.loadUnaligned(fromByteOffset: 16, as: Int16.self)
            bytes.storeBytes(of: isUp ? flags | up : flags & ~up, toByteOffset: 16, as: Int16.self)
            _ = ioctl(socket, setFlags, base)
        }
    }
}
