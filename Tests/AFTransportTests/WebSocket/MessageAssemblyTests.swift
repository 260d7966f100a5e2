import AFWire

@testable import AFTransport

struct MessageAssemblyTests {
    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
    private static let helloInLastBlock: [UInt8] = [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    /// Texts of a server that packs them, one after the other, but for some.
    ///
    /// - Parameter plain: The places of those that it leaves as they are.
    private func texts(
        _ payloads: [[UInt8]],
        plain: Set<Int> = [],
        limit: Int = 100,
        pageSize: Int = 100
    ) throws -> [String] {
        var assembly = MessageAssembly(compression: WebSocketCompression(), limit: limit)
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 16)
        defer { page.deallocate() }
        return try payloads.enumerated().map { place, payload in
            assembly.begin(isText: true, isCompressed: !plain.contains(place))
            try payload.withUnsafeBytes { if !$0.isEmpty { try assembly.add($0, announced: 0, page: page) } }
            guard case .text(let text) = try assembly.end(page: page) else { return "" }
            return text
        }
    }

    @Test(arguments: [1, 4, 5, 100])
    func `a message that was packed is unpacked, in pages of any size`(pageSize: Int) throws {
        #expect(try texts([Self.hello, [0xF2, 0x00, 0x11, 0x00, 0x00]], pageSize: pageSize) == ["Hello", "Hello"])
        #expect(try texts([Self.helloInLastBlock + [0], Self.hello], pageSize: pageSize) == ["Hello", "Hello"])
    }

    @Test func `a server may leave a message as it is, between others that it packs`() throws {
        let payloads = [Self.hello, Array("plain".utf8), [0xF2, 0x00, 0x11, 0x00, 0x00]]
        #expect(try texts(payloads, plain: [1]) == ["Hello", "plain", "Hello"])
    }

    @Test func `a message that ends within a block fails`() {
        for count in 1..<Self.hello.count {
            #expect("\(count) bytes") { try texts([Array(Self.hello.prefix(count))]) } throws: {
                if case .damaged? = $0 as? WebSocketFailure { true } else { false }
            }
        }
    }

    @Test(arguments: [1, 4, 5, 100])
    func `a text that is neither UTF-8 nor within the limit fails for what comes first`(pageSize: Int) {
        let stored: [UInt8] = [0x00, 0x06, 0x00, 0xF9, 0xFF]
        let broken: [UInt16: [UInt8]] = [
            1007: [0x61, 0xFF, 0x61, 0x61, 0x61, 0x61], 1009: [0x61, 0x61, 0x61, 0x61, 0xFF, 0x61],
        ]
        for (code, bytes) in broken {
            #expect("\(bytes)") { try texts([stored + bytes + [0]], limit: 4, pageSize: pageSize) } throws: {
                ($0 as? WebSocketFailure)?.code == code
            }
        }
    }

    @Test(arguments: [0, -1, .min]) func `a limit that is lowered below nothing lets nothing more in`(limit: Int) {
        var assembly = MessageAssembly(compression: WebSocketCompression(), limit: 100)
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 16)
        defer { page.deallocate() }
        assembly.begin(isText: true, isCompressed: true)
        let (first, rest) = (Self.hello.prefix(5), Self.hello.dropFirst(5))
        #expect(throws: Never.self) {
            try first.withUnsafeBytes { try assembly.add($0, announced: 0, page: page) }
        }
        assembly.limit = limit
        #expect {
            try rest.withUnsafeBytes { try assembly.add($0, announced: 0, page: page) }
            _ = try assembly.end(page: page)
        } throws: {
            if case .tooLong? = $0 as? WebSocketFailure { true } else { false }
        }
    }

    @Test(arguments: [1, 4, 5, 100])
    func `a server may leave in what others take away, and the next message is whole`(pageSize: Int) throws {
        let endings: [[UInt8]] = [Self.hello + [0, 0, 0xFF, 0xFF], Self.helloInLastBlock]
        for ending in endings {
            #expect(try texts([ending, [], Self.hello], pageSize: pageSize) == ["Hello", "", "Hello"])
        }
    }
}
