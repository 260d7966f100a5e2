import AFFaults
import AFTestSupport
import CAFLinux
import Foundation
import Glibc
import Testing

@Suite("System calls for interfaces and their changes")
struct InterfaceCallTests {
    // MARK: - Netlink

    @Test func `a message is taken as far as there is room, with its sender`() {
        var ends: [Int32] = [0, 0]
        socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &ends)
        for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
        var (bytes, sender, isTruncated) = ([UInt8](repeating: 0, count: 4), UInt32(7), true)
        func receive() -> Int { caf_netlink_receive(ends[1], &bytes, 4, &sender, &isTruncated) }
        // What has no sender is the kernel's.
        write(ends[0], "four", 4)
        #expect(receive() == 4 && sender == 0 && !isTruncated && bytes == Array("four".utf8))
        write(ends[0], "seven b", 7)
        #expect(receive() == 4 && isTruncated && bytes == Array("seve".utf8))
        write(ends[0], "x", 1)
        #expect(receive() == 1 && !isTruncated && receive() == -Int(EAGAIN))

        write(ends[0], "x", 1)
        #expect(caf_netlink_take_change(ends[1]) == 1 && caf_netlink_take_change(ends[1]) == -EAGAIN)
        send(ends[0], "", 0, 0)
        #expect(caf_netlink_take_change(ends[1]) == -ENODATA)
        for end in ends { #expect(caf_close(end) == 0) }
    }

    @Test func `a message of another process is no change`() throws {
        // NETLINK_USERSOCK; not in every sandbox.
        let pair = (1...2).map { _ in socket(AF_NETLINK, Int32(SOCK_RAW.rawValue), 2) }
        defer { pair.forEach { _ = caf_close($0) } }
        guard pair.allSatisfy({ $0 >= 0 }) else { return }
        var address = sockaddr_storage()
        var length = socklen_t(12)
        address.ss_family = sa_family_t(AF_NETLINK)
        func name(_ body: (UnsafeMutablePointer<sockaddr>) -> Int32) -> Int32 {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
            }
        }
        for socket in pair.reversed() { #expect(name { bind(socket, $0, 12) } == 0) }
        #expect(name { getsockname(pair[1], $0, &length) } == 0)
        for _ in 1...2 { #expect(name { Int32(sendto(pair[0], "x", 1, 0, $0, 12)) } == 1) }
        #expect(name { getsockname(pair[0], $0, &length) } == 0)
        let own = withUnsafeBytes(of: &address) { $0.load(fromByteOffset: 4, as: UInt32.self) }

        #expect(caf_netlink_take_change(pair[1]) == 0)
        var (byte, sender, isTruncated) = (UInt8(0), UInt32(0), true)
        #expect(caf_netlink_receive(pair[1], &byte, 1, &sender, &isTruncated) == 1)
        #expect(sender == own && sender != 0 && !isTruncated)
    }

    @Test func `a watch that is refused leaves no socket`() async {
        await #expect(processExitsWith: .success) {
            let watch = caf_netlink_watch()
            for (code, known) in [
                (0, [CAF_CALL_SOCKET, CAF_CALL_BIND]), (EPERM, [CAF_CALL_SOCKET, CAF_CALL_BIND, CAF_CALL_CLOSE]),
            ] {
                dup2(watch, 0)
                let (result, calls) = PlayedKernel.play([(CAF_CALL_SOCKET, 0), (CAF_CALL_BIND, code)]) {
                    caf_netlink_watch()
                }
                #expect(watch > 0 && result == -code && calls.map(\.kind) == known)
            }
        }
    }

    // MARK: - What an interface is

    /// An open file with this text.
    private static func file(_ text: String) throws -> Int32 {
        let scratch = try ScratchFolder()
        return open(try scratch.file(Data(text.utf8)).path, O_RDONLY)
    }

    /// What is said of an interface whose file has this text, or cannot be opened, and the calls that are made.
    /// Descriptor 0 is the file.
    private static func facts(
        _ text: String?,
        _ name: String = "x",
        _ index: Int32 = 7,
        _ entries: [Int32] = [EPERM, EPERM]
    ) throws -> (wireless: Bool, cellular: Bool, calls: [caf_call]) {
        if let text {
            let file = try Self.file(text)
            dup2(file, 0)
            if file > 0 { close(file) }
        }
        let answers = [(CAF_CALL_OPEN, text == nil ? EPERM : 0)] + entries.map { (CAF_CALL_INQUIRE, $0) }
        let (facts, calls) = PlayedKernel.play(answers) { caf_facts_of_interface(name, index) }
        return (facts.is_wireless, facts.is_cellular, calls.map(\.kind))
    }

    @Test func `an interface is what the file of its number says`() async {
        await #expect(processExitsWith: .success) {
            let (none, wireless, cellular) = ((false, false), (true, false), (false, true))
            let long = String(repeating: "DEVTYPE=wlan\nIFINDEX=7\n", count: 40)
            func filled(_ count: Int) -> String {
                "IFINDEX=7\nX=\(String(repeating: "x", count: count))\nDEVTYPE=wlan\n"
            }
            for (text, entries, known) in [
                (long, [], wireless), (nil, [], none), (long, [], wireless), ("IFINDEX=7\n", [EPERM, EPERM], none),
                ("IFINDEX=7\nDEVTYPE=wlan\n", [], wireless), ("IFINDEX=7\nDEVTYPE=wwan\n", [EPERM, EPERM], cellular),
                ("IFINDEX=70\nDEVTYPE=wlan\n", [], none), ("XIFINDEX=7\nDEVTYPE=wlan\n", [], none),
                ("XIFINDEX=7\nIFINDEX=7\nDEVTYPE=wlan\n", [], wireless), ("", [], none),
                ("IFINDEX=7\nDEVTYPE=wlanx\nDEVTYPE=wlan", [EPERM, EPERM], none),
                ("IFINDEX=7\n", [0], wireless), ("IFINDEX=7\n", [EPERM, 0], wireless),
                // As much as is read, and one byte more.
                (filled(997), [], wireless), (filled(998), [EPERM, EPERM], none),
            ] as [(String?, [Int32], (Bool, Bool))] {
                let facts = try Self.facts(text, "x", 7, entries)
                #expect((facts.wireless, facts.cellular) == known, "\(text ?? "")")
                let reading = text == nil ? [CAF_CALL_OPEN] : [CAF_CALL_OPEN, CAF_CALL_PREAD, CAF_CALL_CLOSE]
                #expect(facts.calls == reading + entries.map { _ in CAF_CALL_INQUIRE }, "\(text ?? "")")
            }
            // Nothing of what was read before is left.
            for next in [EPERM, -(try Self.file("IFINDEX=7\n"))] {
                let answers = [(CAF_CALL_OPEN, -(try Self.file(long))), (CAF_CALL_OPEN, next)]
                let facts = PlayedKernel.play(answers) {
                    (caf_facts_of_interface("x", 7), caf_facts_of_interface("x", 7))
                }.result
                #expect(facts.0.is_wireless && !facts.1.is_wireless)
            }
            // Names that lead elsewhere, and numbers that no interface has.
            for (name, index) in [("a/b", 7), ("..", 7), (".x", 7), ("x", 0), ("x", -7)] as [(String, Int32)] {
                let facts = try Self.facts("IFINDEX=\(index)\nDEVTYPE=wlan\n", name, index)
                #expect(!facts.wireless && facts.calls.isEmpty, "\(name) \(index)")
            }
            #expect(try Self.facts("IFINDEX=1\nDEVTYPE=wlan\n", "x", 1).wireless)
        }
    }

    @Test(.enabled(if: access("/sys/class/net/lo/uevent", R_OK) == 0))
    func `only the interface with that name and number is looked at`() async {
        await #expect(processExitsWith: .success) {
            let lo = Int32(if_nametoindex("lo"))
            for (name, index, known) in [("lo", lo, true), ("lo", lo + 1, false), ("lo:", lo, false)] {
                let facts = PlayedKernel.refuse(CAF_CALL_INQUIRE, 0) { caf_facts_of_interface(name, index) }
                #expect(facts.is_wireless == known)
            }
            // A name with a dot is not looked at: the file stays open as 0.
            _ = try Self.facts("IFINDEX=\(lo)\nDEVTYPE=wwan\n", ".")
            let (isCellular, calls) = PlayedKernel.play([(CAF_CALL_OPEN, 0)]) {
                // What failed before does not matter.
                _ = caf_close(-1)
                return caf_is_cellular(lo)
            }
            #expect(isCellular && calls.allSatisfy { $0.kind != CAF_CALL_INQUIRE || $0.descriptor == -1 })
            #expect(!PlayedKernel.refuse(CAF_CALL_INQUIRE, EPERM) { caf_is_cellular(lo) })
            #expect(PlayedKernel.play { caf_is_cellular(.max) }.calls.map(\.kind) == [CAF_CALL_INQUIRE])
            for none in [0, -1] as [Int32] { #expect(PlayedKernel.play { caf_is_cellular(none) }.calls.isEmpty) }
        }
    }
}
