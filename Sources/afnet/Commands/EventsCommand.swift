import AFURLSession
import Foundation

/// `afnet events`: prints the events of a stream as they arrive.
@MainActor final class EventsCommand {
    private let arguments: Arguments
    private let console: Console
    private let sessions: Sessions
    private let session: URLSession
    private let stream: EventStream
    private let jar: CookieKeeper
    /// The first one counts.
    private var ending: Result<ExitCode, TransferFailure>?

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        console = Console(arguments)
        let payload = try Payload(arguments, isSentAgain: true)
        let plan = try TransferPlan(
            arguments.urls[0],
            arguments: arguments,
            query: arguments.isQuery ? payload.data : nil,
            netrc: try arguments.netrcFile()
        )
        sessions = Sessions(TrustLog())
        session = URLSession(configuration: try sessions.configuration(SessionOptions(arguments)))
        jar = try CookieKeeper(arguments.cookies, cookies: sessions.cookies)
        var request = arguments.request(
            for: plan.url,
            login: plan.login,
            form: arguments.isQuery ? nil : payload.whole,
            type: payload.contentType,
            from: nil
        )
        let names = arguments.fields.map { field in
            switch field.lowercased {
            case .set(let name, _), .removed(let name): name
            }
        }
        if !names.contains("accept") {
            request.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        }
        stream = session.events(
            for: request,
            options: arguments.eventOptions,
            delegate: StreamDelegates.delegate(Identity(plan.url, login: plan.login, arguments: arguments), arguments)
        )
    }

    /// Runs until the stream ends, the user interrupts it, or its time is over.
    func run() async throws(TransferFailure) -> ExitCode {
        let interruption = Interruption()
        interruption.onArrival { self.end(.success(.done)) }
        defer { interruption.stop() }
        if arguments.maximumTime > 0 {
            Task {
                try await Task.sleep(for: .seconds(arguments.maximumTime))
                end(.failure(TransferFailure(.timedOut, "the stream has used up its time (--max-time)")))
            }
        }
        do {
            for try await event in stream { try write(event) }
            end(.success(.done))
        } catch {
            end(.failure(error as? TransferFailure ?? TransferFailure(error, hasResponse: true)))
        }
        // A stream that fails has cookies all the same.
        await sessions.finish(besides: session)
        try jar.finish()
        return try ending?.get() ?? .done
    }

    /// The stream throws when its session is invalid.
    private func end(_ ending: Result<ExitCode, TransferFailure>) {
        self.ending = self.ending ?? ending
        session.invalidateAndCancel()
    }

    private func write(_ event: ServerSentEvent) throws(TransferFailure) {
        if arguments.isVerbose {
            let id = event.id.isEmpty ? "" : ", id \(TerminalText.escaped(event.id))"
            console.write("* event \(TerminalText.escaped(event.name))\(id)\n")
        }
        do throws(SystemFailure) {
            try Descriptor.standardOutput.write(Data((text(of: event) + "\n").utf8))
        } catch {
            throw TransferFailure(.cannotWrite, "cannot write standard output: \(error.text)")
        }
    }

    private func text(of event: ServerSentEvent) -> String {
        if arguments.printsJSON { return JSONEvent(event).text }
        guard Descriptor.standardOutput.isTerminal else { return event.data }
        // A server could control the terminal.
        return event.data.split(separator: "\n", omittingEmptySubsequences: false)
            .map { TerminalText.escaped(String($0)) }.joined(separator: "\n")
    }
}

extension Arguments {
    fileprivate var eventOptions: EventStreamOptions {
        var options = EventStreamOptions(reconnection: isOnce ? .never : .automatic)
        options.lastEventID = lastEventID
        options.maximumAttempts = retries.isOn ? min(retries.count, .max - 1) + 1 : nil
        return options
    }
}

/// One line of `--as-json`.
private struct JSONEvent: Encodable {
    let event: String
    let data: String
    let id: String

    init(_ event: ServerSentEvent) {
        (self.event, data, id) = (event.name, event.data, event.id)
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
