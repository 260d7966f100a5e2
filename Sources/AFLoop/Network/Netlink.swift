/// The numbers of netlink that are used here (`linux/netlink.h`, `linux/rtnetlink.h`, `linux/if_link.h`).
package enum Netlink {
    // MARK: Flags of messages
    static let request: UInt16 = 0x1
    static let dump: UInt16 = 0x300
    /// The list changed while it was made.
    package static let dumpInterrupted: UInt16 = 0x10

    // MARK: Types of messages
    package static let error: UInt16 = 2
    package static let done: UInt16 = 3
    package static let overrun: UInt16 = 4
    package static let newLink: UInt16 = 16
    static let getLink: UInt16 = 18
    package static let newAddress: UInt16 = 20
    static let getAddress: UInt16 = 22
    package static let newRoute: UInt16 = 24
    static let getRoute: UInt16 = 26

    // MARK: Flags of links
    static let isUp: UInt32 = 0x1
    static let isRunning: UInt32 = 0x40

    enum LinkAttribute {
        static let name: UInt16 = 3
        static let details: UInt16 = 18
        /// Within the details.
        static let kind: UInt16 = 1
    }

    enum AddressAttribute {
        static let address: UInt16 = 1
        static let local: UInt16 = 2
        static let flags: UInt16 = 8
    }

    enum RouteAttribute {
        static let destination: UInt16 = 1
        static let interface: UInt16 = 4
        static let source: UInt16 = 7
    }

    // MARK: Types of routes
    static let localRoute: UInt8 = 2
    /// From here on they are ways to refuse: blackhole, unreachable, prohibit, …
    static let firstRefusal: UInt8 = 6
}

extension FixedWidthInteger {
    /// In the byte order of this machine.
    var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}
