@testable import AFURLSession

/// Each case of ``WebSocketCase``, sent in one piece with the handshake, and byte by byte.
struct WebSocketConformanceTests {
    private func check(_ item: WebSocketCase, cut: Int?) {
        var behaviour = WebSocketProgram.Behaviour()
        if let cut {
            behaviour.opened = { client in
                for (number, start) in stride(from: 0, to: item.bytes.count, by: cut).enumerated() {
                    let piece = Array(item.bytes[start..<min(start + cut, item.bytes.count)])
                    client.after(.milliseconds(1 + number)) { $0.send(piece) }
                }
            }
        } else {
            behaviour.early = item.bytes
        }
        if item.isGood {
            // The client answers the server's close: the server ends the connection.
            let frames = item.bytes.count
            behaviour.answersClose = false
            behaviour.received = { frame, client in if frame.opcode == 8, frames > 0 { client.close() } }
        }
        let scene = WebSocketScene(behaviour)
        // Messages that have arrived may be received behind the end.
        let isMessage = { (line: String) in line.hasPrefix("text") || line.hasPrefix("data") }
        let heard = scene.run()
        #expect(heard.filter(isMessage) == item.heard.filter(isMessage))
        #expect(heard.filter { !isMessage($0) } == ["open"] + item.heard.filter { !isMessage($0) })
        #expect(scene.server.all == item.answered)
        #expect(scene.world.finish() == [])
    }

    @Test func `there are more than 400 cases, and no two have one name`() {
        #expect(WebSocketCase.all.count >= 400)
        #expect(Set(WebSocketCase.all.map(\.name)).count == WebSocketCase.all.count)
    }

    @Test(arguments: WebSocketCase.all)
    func `T-WSS-05 T-WSS-06 T-WSS-07 T-WSS-08 T-WSS-15 T-WSS-19 frames that come with the handshake`(
        item: WebSocketCase
    ) {
        check(item, cut: nil)
    }

    @Test(arguments: WebSocketCase.all) func `T-WSS-06 T-WSS-07 T-WSS-08 frames that come in pieces`(
        item: WebSocketCase
    ) {
        check(item, cut: item.bytes.count < 400 ? 1 : max(item.bytes.count / 97, 1))
    }
}
