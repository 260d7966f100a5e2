@testable import AFURLSession
@testable import AFURLTypes

@Suite("Large bodies")
struct UploadBufferTests {
    @Test func `T-RES-10 a body is sent from the buffer its owner filled`() throws {
        let body = Data(count: 64 << 20)

        let frozen = try freeze("http://api.test/") {
            $0.httpMethod = "POST"
            $0.httpBody = body
        }

        let owned = body.withUnsafeBytes { $0.baseAddress }
        #expect(try #require(frozen.body.data).withUnsafeBytes { $0.baseAddress } == owned)
        #expect(frozen.headBytes.count < 1000)
        #expect(frozen.values("Content-Length") == ["\(64 << 20)"])
    }

    @Test func `T-RES-10 a body of many slices arrives byte for byte`() {
        let world = VirtualWorld()
        let body = Data((0..<3_000_017).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 13) })
        var isEqual = false
        world.respond("api.test") { request, moment, client in
            guard moment == .complete else { return }
            isEqual = request.body.elementsEqual(body)
            client.send(VirtualWorld.echo(request.target))
        }

        let events = world.send("POST", "http://api.test/a", body: body)
        world.run { events.isComplete }

        #expect(isEqual)
        #expect(events.task.countOfBytesSent == 3_000_017)
        #expect(world.finish() == [])
    }
}
