@testable import AFURLSession

@Suite("Filtering addresses")
final class AddressFilterTests: WorldSuite {
    @Test(arguments: ["127.0.0.1", "169.254.169.254", "10.1.2.3", "fe80::1", "::ffff:192.168.0.1"])
    func `T-RED-28 a redirect to a name that leads into the local network connects to nothing`(address: String) {
        world.configure { $0.addressFilter = .publicAddressesOnly }
        world.host("api.test", "93.184.216.34")
        world.host("inside.test", address)
        world.respond("api.test") { _, moment, client in
            guard moment == .complete else { return }
            client.send("HTTP/1.1 302 Found\r\nLocation: http://inside.test/\r\nContent-Length: 0\r\n\r\n")
        }
        world.serveEcho("inside.test")

        let events = world.load("http://api.test/")

        let failure = events.error?.loadFailure
        #expect(failure?.reason == .resources && failure?.detail == .address)
        #expect(failure?.message.contains("addressFilter") == true)
        #expect(world.network.connections.map(\.address.host) == ["93.184.216.34"])
    }
}
