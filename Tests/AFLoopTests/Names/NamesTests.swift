import AFFaults
import CAFLinux
import Glibc
import Testing

@testable import AFLoop

struct SocketAddressTests {
    @Test(
        arguments: [
            ("127.0.0.1", 80, "127.0.0.1:80"), ("0.0.0.0", 0, "0.0.0.0:0"),
            ("255.255.255.255", 65535, "255.255.255.255:65535"),
        ] as [(String, UInt16, String)]
    )
    func `IPv4 text is read and written`(text: String, port: UInt16, written: String) throws {
        let address = try #require(SocketAddress(ipv4: text, port: port))

        #expect(address.description == written && address.host == text && address.port == port)
        #expect(address.family == AF_INET && address.isInternet && !address.isIPv6)
        #expect(address.withPort(7).port == 7 && address.withPort(port) == address)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "256.1.1.1", "0x7f.1", "01.2.3.4", "localhost", "1.2.3.4 ", "::1"])
    func `what is no IPv4 address is refused`(text: String) {
        #expect(SocketAddress(ipv4: text, port: 1) == nil)
    }

    @Test func `IPv6 text is read and written, with and without a zone`() throws {
        let address = try #require(SocketAddress(ipv6: "2001:DB8:0::1", port: 443))
        #expect(address.description == "[2001:db8::1]:443" && address.isIPv6 && address.isInternet)
        let local = try #require(SocketAddress(ipv6: "fe80::1", zone: "lo", port: 1))
        #expect(local != SocketAddress(ipv6: "fe80::1", port: 1))
        #expect(local == SocketAddress(ipv6: "fe80::1", zone: "\(if_nametoindex("lo"))", port: 1))
    }

    @Test func `T-RES-36 an impossible zone or address is refused`() {
        #expect(SocketAddress(ipv6: "fe80::1", zone: "nosuch0", port: 1) == nil)
        #expect(SocketAddress(ipv6: "fe80::1", zone: "0", port: 1) == nil)
        #expect(SocketAddress(ipv6: "fe80::1", zone: "99999999999", port: 1) == nil)
        for text in ["", ":::", "1::2::3", "[::1]", "g::1"] { #expect(SocketAddress(ipv6: text, port: 1) == nil) }
    }

    @Test func `a path has 1 to 107 bytes and no NUL`() throws {
        #expect(SocketAddress(unixPath: "") == nil && SocketAddress(unixPath: "a\0b") == nil)
        #expect(SocketAddress(unixPath: String(repeating: "x", count: 108)) == nil)
        let longest = String(repeating: "x", count: 107)
        let address = try #require(SocketAddress(unixPath: longest))
        #expect(address.host == longest && address.port == nil && address.description == longest)
        #expect(!address.isInternet && address.withPort(1) == address)
    }
}

private final class Client: ResolverClient {
    var results: [Result<[SocketAddress], ResolutionFailure>] = []

    func resolved(_ result: Result<[SocketAddress], ResolutionFailure>) { results.append(result) }
}

/// With a hook in the process, so each in a process of its own.
struct LoopbackNamesTests {
    private func address(_ text: String) throws -> SocketAddress {
        try #require(SocketAddress(ipv4: text, port: 0) ?? SocketAddress(ipv6: text, port: 0))
    }

    @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "a.localhost", "a.b.localhost."])
    func `localhost and what is below it is this machine, whatever name servers say`(name: String) throws {
        let silence = Result<[SocketAddress], ResolutionFailure>.failure(
            .init(kind: .notFound, message: "no such name")
        )
        let lie = Result<[SocketAddress], ResolutionFailure>.success([try address("93.184.216.34")])
        let mixed = Result<[SocketAddress], ResolutionFailure>.success([
            try address("10.0.0.1"), try address("127.0.0.2"),
        ])
        let usual = try [address("::1"), address("127.0.0.1")]

        #expect(try LoopbackNames.checked(silence, of: name).get() == usual)
        #expect(try LoopbackNames.checked(lie, of: name).get() == usual)
        #expect(try LoopbackNames.checked(mixed, of: name).get() == [address("127.0.0.2")])
    }

    @Test(arguments: ["", ".", "localhost.test", "alocalhost", "local host", "localhos"])
    func `other names are the business of the system`(name: String) throws {
        let answer = Result<[SocketAddress], ResolutionFailure>.success([try address("93.184.216.34")])

        #expect(LoopbackNames.checked(answer, of: name) == answer)
    }

    @Test func `a lookup that cannot be made is none that failed`() {
        let refusal = Result<[SocketAddress], ResolutionFailure>.failure(.init(kind: .overloaded, message: "too many"))

        #expect(LoopbackNames.checked(refusal, of: "localhost") == refusal)
    }
}

@Suite(.serialized) struct GetaddrinfoResolverTests {
    private static func run(_ loop: EventLoop, until condition: () -> Bool) {
        let deadline = loop.now + .seconds(10)
        while !condition(), loop.now < deadline { loop.runTurn(until: loop.now + .milliseconds(5)) }
    }

    @Test func `T-RES-34 lookups of one name are one, with an answer for each client in a later turn`() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop(poller: EpollPoller())
            let resolver = LoopBound(GetaddrinfoResolver(loop: loop), on: loop)
            let clients = LoopBound((1...5).map { _ in Client() }, on: loop)
            LookupGate.hold()
            LookupGate.answer(EAI_NONAME)

            loop.enqueue { for client in clients.value { resolver.value.resolve("one.test", for: client) } }
            Self.run(loop) { LookupGate.held == 1 }
            loop.enqueue { resolver.value.cancel(clients.value[0]) }
            loop.enqueue { LookupGate.release() }
            nonisolated(unsafe) var counts: [Int] = []
            Self.run(loop) {
                loop.enqueue { counts = clients.value.map(\.results.count) }
                return counts.last == 1
            }

            // A job left in the inbox would keep the loop alive.
            loop.runTurn(until: loop.now)
            #expect(counts == [0, 1, 1, 1, 1] && LookupGate.mostHeld == 1)
            FaultInjector.stop()
        }
    }

    @Test func `what it costs to cancel a lookup does not grow with those that wait`() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop(poller: EpollPoller())
            let resolver = LoopBound(GetaddrinfoResolver(loop: loop), on: loop)
            nonisolated(unsafe) var growth: Double?
            LookupGate.hold()
            LookupGate.answer(EAI_NONAME)
            loop.enqueue {
                growth = CPUTime.growth(from: 125, to: 4_000) { count in
                    let clients = (0..<count).map { _ in Client() }
                    for (number, client) in clients.enumerated() {
                        resolver.value.resolve("n\(number).test", for: client)
                    }
                    for client in clients { resolver.value.cancel(client) }
                }
            }
            Self.run(loop) { growth != nil }
            LookupGate.release()
            #expect(growth.map { $0 < 8 } == true)
            FaultInjector.stop()
        }
    }

    @Test func `T-RES-34 no more names wait than may, and a withdrawn one is never looked up`() async {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop(poller: EpollPoller())
            let resolver = LoopBound(GetaddrinfoResolver(loop: loop), on: loop)
            let clients = LoopBound((0..<5000).map { _ in Client() }, on: loop)
            nonisolated(unsafe) var answered = 0
            LookupGate.hold()
            LookupGate.answer(EAI_NONAME)
            loop.enqueue {
                for (number, client) in clients.value.enumerated() {
                    resolver.value.resolve("n\(number).test", for: client)
                }
            }

            Self.run(loop) {
                loop.enqueue { answered = clients.value.count { !$0.results.isEmpty } }
                return answered >= 900
            }
            // Four are being looked up at most, as soon as their threads have come to it.
            #expect((900...904).contains(answered))
            nonisolated(unsafe) var isCancelled = false
            loop.enqueue {
                for client in clients.value { resolver.value.cancel(client) }
                isCancelled = true
            }
            Self.run(loop) { isCancelled }
            Self.run(loop) { LookupGate.held == min(4, FaultInjector.calls(CAF_CALL_GETADDRINFO)) }
            let before = FaultInjector.calls(CAF_CALL_GETADDRINFO)
            LookupGate.release()
            nonisolated(unsafe) var turns = 0
            Self.run(loop) {
                loop.enqueue { turns += 1 }
                return turns > 20
            }

            #expect(FaultInjector.calls(CAF_CALL_GETADDRINFO) == before)
            FaultInjector.stop()
        }
    }
}
