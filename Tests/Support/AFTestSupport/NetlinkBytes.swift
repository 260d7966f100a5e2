import AFLoop
import Glibc

/// Messages of the kernel, made by hand.
package enum NetlinkBytes {
    package static func message(_ type: UInt16, flags: UInt16 = 2, sequence: UInt32 = 1, _ payload: [UInt8]) -> [UInt8]
    {
        let header = [bytes(UInt32(16 + payload.count)), bytes(type), bytes(flags), bytes(sequence), bytes(UInt32(0))]
        return padded(header.flatMap { $0 } + payload)
    }

    package static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        padded([bytes(UInt16(4 + value.count)), bytes(type), value].flatMap { $0 })
    }

    package static func text(_ type: UInt16, _ value: String) -> [UInt8] { attribute(type, Array(value.utf8) + [0]) }

    package static func link(
        _ index: Int32,
        _ name: String,
        hardware: UInt16 = 1,
        flags: UInt32 = 0x41,
        kind: String? = nil,
        sequence: UInt32 = 1
    ) -> [UInt8] {
        let head = [bytes(UInt16(0)), bytes(hardware), bytes(index), bytes(flags), bytes(UInt32(0))]
        let attributes = text(3, name) + (kind.map { attribute(18, text(1, $0)) } ?? [])
        return message(Netlink.newLink, sequence: sequence, head.flatMap { $0 } + attributes)
    }

    package static func address(
        _ interface: UInt32,
        _ address: [UInt8],
        local: [UInt8]? = nil,
        flags: UInt32 = 0x80,
        sequence: UInt32 = 1
    ) -> [UInt8] {
        let family = UInt8(address.count == 4 ? AF_INET : AF_INET6)
        let head: [UInt8] = [family, 24, UInt8(truncatingIfNeeded: flags), 0]
        let own = local.map { attribute(2, $0) } ?? []
        let parts = [head, bytes(interface), attribute(1, address), own, attribute(8, bytes(flags))]
        return message(Netlink.newAddress, sequence: sequence, parts.flatMap { $0 })
    }

    package static func route(by interface: Int32?, from source: [UInt8]?, type: UInt8 = 1, sequence: UInt32 = 1)
        -> [UInt8]
    {
        let head: [UInt8] = [UInt8(AF_INET), 32, 0, 0, 254, 0, 0, type]
        let by = interface.map { attribute(4, bytes($0)) } ?? []
        let from = source.map { attribute(7, $0) } ?? []
        return message(
            Netlink.newRoute,
            flags: 0,
            sequence: sequence,
            [head, bytes(UInt32(0x200)), by, from].flatMap { $0 }
        )
    }

    package static func error(_ code: Int32, sequence: UInt32 = 1) -> [UInt8] {
        message(Netlink.error, flags: 0, sequence: sequence, bytes(-code) + [UInt8](repeating: 0, count: 16))
    }

    package static func done(_ code: Int32 = 0, flags: UInt16 = 2, sequence: UInt32 = 1) -> [UInt8] {
        message(Netlink.done, flags: flags, sequence: sequence, bytes(-code))
    }

    package static func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
    }
}
