import AFURLSession
import AFVirtualWorld
import Foundation

extension VirtualWorld {
    /// Serves a host that answers every request with its own path.
    func serveEcho(_ host: String, after delay: Duration = .zero, fields: String = "") {
        respond(host) { request, moment, client in
            guard moment == .complete else { return }
            client.connection.isAnswered = true
            let answer = VirtualWorld.echo(request.target, fields: fields)
            guard delay > .zero else { return client.send(answer) }
            client.after(delay) { $0.send(answer) }
        }
    }

    static func echo(_ target: String, fields: String = "") -> String {
        "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(target.utf8.count)\r\n\r\n\(target)"
    }

    /// Runs a request to its end.
    @discardableResult
    func load(_ url: String) -> TaskEvents {
        let events = get(url)
        run { events.isComplete }
        return events
    }
}

extension TaskEvents {
    var phase: LoadFailure.Phase? { error?.loadFailure?.phase }
}
