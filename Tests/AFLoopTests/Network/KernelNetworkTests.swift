import AFLoop
import AFTestSupport
import Glibc
import Testing

@Suite("What the kernel says of its network")
struct KernelNetworkTests {
    typealias Datagram = KernelScript.Datagram

    @Test func `links, their addresses and a route make a reading`() throws {
        let script = KernelScript()
        let reading = try script.read().get()

        #expect(reading.interfaces.map(\.name) == ["lo", "wlan0"])
        #expect(reading.interfaces.map(\.kind) == [.loopback, .wifi])
        #expect(reading.interfaces.map { $0.addresses.map(\.host) } == [["127.0.0.1"], ["192.0.2.1"]])
        #expect(
            RouteDecision(to: KernelScript.far, by: reading.routes[KernelScript.far], in: reading)
                == .open(reading.interfaces[1])
        )
        #expect(script.conversations == 1)
    }

    @Test func `an address that is not of the internet has no route, and the kernel is not asked`() throws {
        let path = try #require(SocketAddress(unixPath: "/run/some.sock"))
        let reading = try KernelScript().network.read(routesTo: [path]).get()

        #expect(reading.routes == [path: .refused(EAFNOSUPPORT)])
    }

    /// What may go wrong with one answer.
    enum Trouble: CaseIterable, Sendable {
        case interrupted, interruptedAtTheEnd, overrun, truncated, malformed, badLink, empty, cutShort, overflow,
            noMemory

        func datagrams(_ sequence: UInt32) -> [Datagram] {
            let link = NetlinkBytes.link(1, "lo", hardware: 772, sequence: sequence)
            switch self {
            case .interrupted:
                let flagged = NetlinkBytes.message(
                    Netlink.newLink,
                    flags: 0x12,
                    sequence: sequence,
                    Array(link.dropFirst(16))
                )
                return [Datagram(bytes: flagged), Datagram(bytes: NetlinkBytes.done(sequence: sequence))]
            case .interruptedAtTheEnd:
                return [Datagram(bytes: link), Datagram(bytes: NetlinkBytes.done(flags: 0x12, sequence: sequence))]
            case .overrun: return [Datagram(bytes: NetlinkBytes.message(Netlink.overrun, sequence: sequence, []))]
            case .truncated: return [Datagram(bytes: link, isTruncated: true)]
            case .malformed: return [Datagram(bytes: link + [1, 2, 3, 4])]
            case .badLink: return [Datagram(bytes: NetlinkBytes.link(0, "lo", sequence: sequence))]
            case .empty: return [Datagram()]
            case .cutShort: return [Datagram(bytes: link)]
            case .overflow: return [Datagram(bytes: link), Datagram(failure: ENOBUFS)]
            case .noMemory: return [Datagram(bytes: NetlinkBytes.error(ENOMEM, sequence: sequence))]
            }
        }
    }

    @Test(
        "an answer that is not whole is asked for again, five times at most, T-NET-02, T-NET-04",
        arguments: Trouble.allCases
    )
    func trouble(trouble: Trouble) throws {
        let once = KernelScript { question, sequence, port in
            question == .links && port == 1 ? trouble.datagrams(sequence) : nil
        }
        #expect(try once.read().get().interfaces.count == 2)
        #expect(once.conversations == 2)

        let always = KernelScript { question, sequence, _ in question == .links ? trouble.datagrams(sequence) : nil }
        #expect(always.read() == .failure(.unsettled))
        #expect(always.conversations == 5)
    }

    @Test("the last of five attempts still counts, T-NET-02")
    func lastAttempt() throws {
        let script = KernelScript { question, sequence, port in
            question == .addresses && port < 5 ? Trouble.overrun.datagrams(sequence) : nil
        }

        #expect(try script.read().get().interfaces.count == 2)
        #expect(script.conversations == 5)
    }

    @Test("a refusal is told and not repeated, T-NET-02, T-NET-09", arguments: [EPERM, EACCES, EOPNOTSUPP, EINVAL])
    func refusal(code: Int32) {
        let answers: [KernelScript] = [
            KernelScript { question, sequence, _ in
                question == .links ? [Datagram(bytes: NetlinkBytes.error(code, sequence: sequence))] : nil
            },
            KernelScript { question, sequence, _ in
                question == .links ? [Datagram(bytes: NetlinkBytes.done(code, sequence: sequence))] : nil
            },
        ]
        for script in answers {
            #expect(script.read() == .failure(.refused(SystemCallError(.netlink, code: code))))
            #expect(script.conversations == 1)
        }
        let closed = KernelNetwork(open: { () throws(SystemCallError) in throw SystemCallError(.netlink, code: code) })
        #expect(closed.read(routesTo: []) == .failure(.refused(SystemCallError(.netlink, code: code))))
    }

    @Test("messages of other processes are ignored, T-NET-03")
    func foreigners() throws {
        let script = KernelScript { question, sequence, _ in
            guard question == .links else { return nil }
            let forged = NetlinkBytes.link(9, "evil0", sequence: sequence) + NetlinkBytes.done(sequence: sequence)
            let before = [Datagram(bytes: forged, isFromKernel: false), Datagram(isFromKernel: false)]
            return before + KernelScript.usual(question, sequence)
        }

        #expect(try script.read().get().interfaces.map(\.name) == ["lo", "wlan0"])
        #expect(script.conversations == 1)
    }

    @Test("messages that belong to another question are passed over, T-NET-05")
    func otherNumbers() throws {
        let script = KernelScript { question, sequence, _ in
            let notification = Datagram(bytes: NetlinkBytes.link(9, "late0", sequence: 0))
            let leftover = Datagram(
                bytes: NetlinkBytes.link(8, "old0", sequence: sequence &- 1) + NetlinkBytes.done(sequence: 99)
            )
            var answer = KernelScript.usual(question, sequence)
            answer.insert(contentsOf: [notification, leftover], at: question == .links ? 1 : 0)
            return answer
        }

        #expect(try script.read().get().interfaces.map(\.name) == ["lo", "wlan0"])
    }

    @Test("a route by an interface that is not listed means that it came meanwhile, T-NET-12")
    func inconsistent() throws {
        let script = KernelScript { question, sequence, port in
            guard question == .route, port == 1 else { return nil }
            return [Datagram(bytes: NetlinkBytes.route(by: 7, from: [192, 0, 2, 7], sequence: sequence))]
        }

        let reading = try script.read().get()
        #expect(script.conversations == 2)
        #expect(
            reading.routes[KernelScript.far]
                == .route(Route(interface: 2, source: SocketAddress(ipv4: "192.0.2.1", port: 0)))
        )
    }

    @Test func `a flood of answers to other questions ends`() {
        let script = KernelScript { question, _, _ in
            question == .links ? (0..<3000).map { _ in Datagram(bytes: NetlinkBytes.link(9, "x", sequence: 0)) } : nil
        }

        #expect(script.read() == .failure(.unsettled))
    }
}
