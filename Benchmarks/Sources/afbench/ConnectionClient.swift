import AFURLSession
import Foundation
import Harness

/// Connections as AFNetworking 2 ran them: their delegates are called on the network thread, and each starts the next.
final class ConnectionClient: Client {
    private let bench: Bench

    init(_ bench: Bench) {
        self.bench = bench
        bench.chooseSharedCache()
    }

    func load(_ url: URL, inFlight: Int, _ tally: Tally) {
        let request = URLRequest(url: url)
        for _ in 0..<inFlight { startNext(request, tally) }
    }

    private func startNext(_ request: URLRequest, _ tally: Tally) {
        guard let number = tally.claim() else { return }
        tally.start(number)
        let receiver = Receiver(bench, tally) { [self] in
            tally.finish(number)
            startNext(request, tally)
        }
        guard let connection = URLConnection(request: request, delegate: receiver, startImmediately: false) else {
            bench.arguments.fail("not a request: \(request)")
        }
        connection.schedule(onNetworkThreadIn: [.default])
        connection.start()
    }
}

private final class Receiver: URLConnectionDataDelegate, Sendable {
    private let bench: Bench
    private let tally: Tally
    private let finished: @Sendable () -> Void

    init(_ bench: Bench, _ tally: Tally, finished: @escaping @Sendable () -> Void) {
        (self.bench, self.tally, self.finished) = (bench, tally, finished)
    }

    func connection(_ connection: URLConnection, didReceive response: URLResponse) {
        bench.check(response, nil)
    }

    func connection(_ connection: URLConnection, didReceive data: Data) {
        tally.count(data.count)
    }

    func connectionDidFinishLoading(_ connection: URLConnection) {
        finished()
    }

    func connection(_ connection: URLConnection, didFailWithError error: any Error) {
        bench.check(nil, error)
    }
}
