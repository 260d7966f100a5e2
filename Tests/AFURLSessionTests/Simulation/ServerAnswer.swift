/// Puts one answer on the wire as its behaviour demands.
struct ServerAnswer {
    private let behaviour: Behaviour
    private let isHead: Bool
    private let body: [UInt8]

    init(_ plan: TaskPlan, _ behaviour: Behaviour, isHead: Bool) {
        self.behaviour = behaviour
        self.isHead = isHead
        body = plan.downloadBody
    }

    private var sentBody: [UInt8] { isHead ? [] : body }
    private var halfBody: [UInt8] { Array(sentBody.prefix(body.count / 2)) }

    /// - Parameter done: Called with the status when the answer is complete.
    func send(to client: ServerEnd, done: @escaping (Int) -> Void) {
        switch behaviour {
        case .length, .readsLate, .early: plain("", client, done)
        case .chunked: chunked(client, done)
        case .untilClose: closing("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", client, done)
        case .untilClose10: closing("HTTP/1.0 200 OK\r\n\r\n", client, done)
        case .interim:
            for _ in 0..<client.draw(1...3) { client.send("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n") }
            plain("", client, done)
        case .noContent:
            client.send("HTTP/1.1 204 No Content\r\n\r\n")
            done(204)
        case .announcesClose:
            plain("Connection: close\r\n", client, done)
            client.close()
        case .keepAliveHint: plain("Keep-Alive: timeout=\(client.draw(0...4))\r\n", client, done)
        case .dribble: dribble(client, done)
        case .requestTimeout:
            client.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
            done(408)
        case .halfCloses:
            plain("", client, done)
            client.halfClose()
        case .closesLater, .resetsLater, .poisons, .poisonsLater:
            plain("", client, done)
            afterwards(client)
        case .malformed, .truncatedLength, .truncatedChunks, .resetInBody, .resetInHead, .stallBeforeHead,
            .stallInHead, .stallInBody, .closesUnanswered, .resetsUnanswered:
            broken(client)
        }
    }

    private func head(_ fields: String) -> String {
        "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"
    }

    private func plain(_ fields: String, _ client: ServerEnd, _ done: (Int) -> Void) {
        client.send(head(fields))
        client.send(sentBody)
        done(200)
    }

    private func chunked(_ client: ServerEnd, _ done: (Int) -> Void) {
        client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        if !isHead {
            sendChunks(sentBody, client)
            client.send("0\r\n\r\n")
        }
        done(200)
    }

    private func sendChunks(_ bytes: [UInt8], _ client: ServerEnd) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(client.draw(1...max(1, bytes.count / 3)))
            client.send(String(piece.count, radix: 16) + "\r\n")
            client.send(Array(piece))
            client.send("\r\n")
            rest = rest.dropFirst(piece.count)
        }
    }

    private func closing(_ head: String, _ client: ServerEnd, _ done: (Int) -> Void) {
        client.send(head)
        client.send(sentBody)
        done(200)
        client.close()
    }

    private func dribble(_ client: ServerEnd, _ done: @escaping (Int) -> Void) {
        let message = Array(head("").utf8) + sentBody
        sendPieces(message[...], size: max(1, message.count / client.draw(1...8)), client, done)
    }

    private func sendPieces(
        _ rest: ArraySlice<UInt8>,
        size: Int,
        _ client: ServerEnd,
        _ done: @escaping (Int) -> Void
    ) {
        client.send(Array(rest.prefix(size)))
        let left = rest.dropFirst(size)
        guard !left.isEmpty else { return done(200) }
        client.after(.milliseconds(client.draw(0...400))) { sendPieces(left, size: size, $0, done) }
    }

    private func afterwards(_ client: ServerEnd) {
        let forged = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        let delay = Duration.microseconds(client.draw(0...60_000))
        switch behaviour {
        case .closesLater: client.after(delay) { $0.close() }
        case .resetsLater: client.after(delay) { $0.reset() }
        case .poisons: client.send(forged)
        case .poisonsLater: client.after(delay) { if $0.connection.isAnswered { $0.send(forged) } }
        default: break
        }
    }

    private func broken(_ client: ServerEnd) {
        switch behaviour {
        case .malformed:
            client.send(client.draw(0...1) == 0 ? "HTTP/1.1 20\r\n\r\n" : "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n")
        case .truncatedLength:
            client.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count + 1)\r\n\r\n")
            client.send(sentBody)
            client.close()
        case .truncatedChunks:
            client.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            sendChunks(sentBody, client)
            client.close()
        case .resetInBody:
            client.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count + 1)\r\n\r\n")
            client.send(halfBody)
            client.after(.milliseconds(client.draw(0...20))) { $0.reset() }
        case .resetInHead:
            client.send("HTTP/1.1 200 OK\r\nContent-")
            client.after(.milliseconds(client.draw(0...20))) { $0.reset() }
        case .stallInHead: client.send("HTTP/1.1 200 OK\r\nContent-")
        case .stallInBody:
            client.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count + 1)\r\n\r\n")
            client.send(sentBody)
        case .closesUnanswered: client.close()
        case .resetsUnanswered: client.reset()
        default: break
        }
    }
}
