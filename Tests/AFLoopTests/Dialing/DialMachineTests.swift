import Testing

@testable import AFLoop

struct DialMachineTests {
    // The texts are literals and always parse.
    private static func v4(_ last: Int) -> SocketAddress { SocketAddress(ipv4: "192.0.2.\(last)", port: 80)! }
    private static func v6(_ last: Int) -> SocketAddress { SocketAddress(ipv6: "2001:db8::\(last)", port: 80)! }

    @Test func `T-RES-36 families take turns, beginning with the preferred, each address once`() {
        let found = [Self.v6(1), Self.v6(2), Self.v6(1), Self.v4(1), Self.v6(3), Self.v4(2), Self.v4(1)]

        #expect(DialMachine(found).addresses == [Self.v6(1), Self.v4(1), Self.v6(2), Self.v4(2), Self.v6(3)])
        #expect(DialMachine([Self.v4(1), Self.v6(1)]).addresses == [Self.v4(1), Self.v6(1)])
    }

    @Test func `T-RES-36 a thousand addresses are tried at sixteen`() {
        let found = (0..<250).map { Self.v4($0) } + (1...750).map { Self.v6($0) }

        let addresses = DialMachine(found).addresses

        #expect(addresses.count == 16 && addresses.count { $0.isIPv6 } == 8)
    }

    @Test func `without an address the dial fails`() {
        var machine = DialMachine([])
        #expect(machine.start() == .fail && !machine.hasUntried)
    }

    @Test func `the next address is tried after the delay or a failure, and no address twice`() {
        var machine = DialMachine((1...3).map { Self.v4($0) })

        #expect(machine.start() == .attempt(0))
        #expect(machine.delayElapsed() == .attempt(1))
        #expect(machine.attemptFailed(0) == .attempt(2))
        #expect(!machine.hasUntried && machine.delayElapsed() == .wait)
        #expect(machine.attemptFailed(2) == .wait)
        #expect(machine.attemptFailed(2) == .wait)
        #expect(machine.attemptFailed(1) == .fail)
        #expect(machine.attemptFailed(1) == .wait && machine.attemptConnected(1) == .wait)
    }

    @Test func `T-RES-37 in every order of four attempts there is one winner or one failure`() {
        for order in permutations([0, 1, 2, 3]) {
            for winners in 0..<16 {
                var machine = DialMachine((1...4).map { Self.v4($0) })
                _ = machine.start()
                for _ in 1...3 { _ = machine.delayElapsed() }
                var outcomes: [DialMachine.Action] = []
                for attempt in order {
                    let wins = winners & (1 << attempt) != 0
                    let action = wins ? machine.attemptConnected(attempt) : machine.attemptFailed(attempt)
                    if action != .wait { outcomes.append(action) }
                }
                let first = order.first { winners & (1 << $0) != 0 }
                #expect(outcomes == [first.map { .connected($0) } ?? .fail])
            }
        }
    }

    // MARK: - Families that are known one after the other

    @Test func `addresses that come later go among the untried ones, the other family first`() {
        var machine = DialMachine([Self.v4(1), Self.v4(2), Self.v4(3)], awaitsMore: true)

        #expect(machine.start() == .attempt(0) && machine.delayElapsed() == .attempt(1))
        #expect(machine.add([Self.v6(1), Self.v6(2), Self.v4(1), Self.v4(2), Self.v4(3)]) == .wait)

        let order = [Self.v4(1), Self.v4(2), Self.v6(1), Self.v4(3), Self.v6(2)]
        #expect(machine.addresses == order && !machine.awaitsMore)
        #expect(machine.add([Self.v6(9)]) == .wait && machine.addresses == order)
    }

    @Test func `a dial fails only when no more addresses can come, T-WRM-11`() {
        var machine = DialMachine([Self.v4(1)], awaitsMore: true)

        #expect(machine.start() == .attempt(0) && machine.attemptFailed(0) == .wait)
        var other = machine
        #expect(machine.add([Self.v6(1), Self.v4(1)]) == .attempt(1) && machine.attemptFailed(1) == .fail)
        #expect(other.add([]) == .fail)
    }

    @Test func `a late answer changes nothing once an address has won, and is cut at sixteen`() {
        var machine = DialMachine([Self.v4(1)], awaitsMore: true)
        _ = machine.start()
        var won = machine

        #expect(won.attemptConnected(0) == .connected(0) && won.add([Self.v6(1)]) == .wait && !won.hasUntried)
        #expect(machine.add((1...99).map { Self.v6($0) }) == .wait && machine.addresses.count == 16)
    }

    private func permutations(_ items: [Int]) -> [[Int]] {
        guard let first = items.first else { return [[]] }
        return permutations(Array(items.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
        }
    }
}
