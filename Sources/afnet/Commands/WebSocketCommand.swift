import AFBase
import AFURLSession
import Dispatch
import Foundation

/// `afnet ws`: sends the lines of standard input as messages, and prints the messages that arrive.
@MainActor struct WebSocketCommand {
    private let arguments: Arguments
    private let console: Console
    private let sessions: Sessions
    private let session: URLSession
    private let task: URLSessionWebSocketTask
    private let jar: CookieKeeper
    private let interruption = Interruption()

    init(_ arguments: Arguments) throws(TransferFailure) {
        self.arguments = arguments
        console = Console(arguments)
        let plan = try TransferPlan(
            arguments.urls[0],
            arguments: arguments,
            scheme: "ws",
            netrc: try arguments.netrcFile()
        )
        sessions = Sessions(TrustLog())
        session = URLSession(configuration: try sessions.configuration(SessionOptions(arguments)))
        jar = try CookieKeeper(arguments.cookies, cookies: sessions.cookies)
        var request = arguments.request(for: plan.url, login: plan.login, form: nil, from: nil)
        // As a field they can follow a redirect to another origin, with --location-trusted.
        if !arguments.subprotocols.isEmpty {
            request.addValue(
                arguments.subprotocols.joined(separator: ", "),
                forHTTPHeaderField: "Sec-WebSocket-Protocol"
            )
        }
        task = session.webSocketTask(with: request, options: arguments.webSocketOptions)
        task.delegate = StreamDelegates.delegate(Identity(plan.url, login: plan.login, arguments: arguments), arguments)
    }

    func run() async throws(TransferFailure) -> ExitCode {
        defer { session.invalidateAndCancel() }
        interruption.onArrival { [task] in
            if task.state == .running, task.response != nil {
                task.cancel(with: .goingAway, reason: nil)
            } else {
                task.cancel()
            }
        }
        defer { interruption.stop() }
        let unread = StandardInput(arguments, task: task)
        var failure: TransferFailure?
        do {
            let name = try await task.open()
            say("open" + (name.map { ", subprotocol \($0)" } ?? ""))
            unread.start()
            for try await message in task.messages { try write(message) }
            say("closed with \(task.closeCode.rawValue)")
            try checkClose()
        } catch {
            failure = error as? TransferFailure ?? TransferFailure(error, hasResponse: true)
        }
        // A WebSocket that fails has cookies all the same.
        await sessions.finish(besides: session)
        try jar.finish()
        if let failure = unread.failure ?? failure { throw failure }
        return .done
    }

    /// The task takes any close as orderly once the program has closed, but the server's code may be a complaint.
    private func checkClose() throws(TransferFailure) {
        guard ![.normalClosure, .goingAway, .noStatusReceived].contains(task.closeCode) else { return }
        let reason = task.closeReason.map { ": \"\(TerminalText.escaped(String(decoding: $0, as: UTF8.self)))\"" } ?? ""
        let message = "The WebSocket was closed with code \(task.closeCode.rawValue)\(reason)."
        throw TransferFailure(.cannotReceive, message)
    }

    private func say(_ text: String) {
        if arguments.isVerbose { console.write("* \(TerminalText.escaped(text))\n") }
    }

    private func write(_ message: URLSessionWebSocketTask.Message) throws(TransferFailure) {
        do throws(SystemFailure) {
            try Descriptor.standardOutput.write(bytes(of: message))
        } catch {
            throw TransferFailure(.cannotWrite, "cannot write standard output: \(error.text)")
        }
    }

    private func bytes(of message: URLSessionWebSocketTask.Message) -> Data {
        let end = arguments.isBinary ? "" : "\n"
        switch message {
        case .data(let data): return data + Data(end.utf8)
        // A server could control the terminal.
        case .string(let text) where !arguments.isBinary && Descriptor.standardOutput.isTerminal:
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return Data((lines.map { TerminalText.escaped(String($0)) }.joined(separator: "\n") + end).utf8)
        case .string(let text): return Data((text + end).utf8)
        }
    }
}

extension Arguments {
    fileprivate var webSocketOptions: WebSocketOptions {
        var options = WebSocketOptions()
        if !offersDeflate { options.compression = nil }
        if let pingInterval {
            options.pingInterval = .seconds(pingInterval)
            options.pongTimeout = .seconds(pingInterval)
        }
        // A person, or a program behind a pipe, takes messages of any size.
        options.maximumMessageSize = 1 << 30
        return options
    }
}

/// Sends standard input, on a thread of its own. It reads no further than the connection takes.
private final class StandardInput: Sendable {
    /// A line without end would fill the memory.
    private static let longestLine = 64 << 20

    private let isBinary: Bool
    private let task: URLSessionWebSocketTask
    private let problem = Lock<TransferFailure?>(nil)

    init(_ arguments: Arguments, task: URLSessionWebSocketTask) {
        isBinary = arguments.isBinary
        self.task = task
    }

    /// Why it could not be read to its end.
    var failure: TransferFailure? { problem.withLock { $0 } }

    func start() {
        Thread.detachNewThread { [self] in
            do throws(TransferFailure) {
                try isBinary ? sendPieces() : sendLines()
            } catch {
                problem.withLock { $0 = error }
            }
            task.cancel(with: .normalClosure, reason: nil)
        }
    }

    private func sendPieces() throws(TransferFailure) {
        while case let piece = try readSome(), !piece.isEmpty {
            guard send(.data(piece)) else { return }
        }
    }

    private func sendLines() throws(TransferFailure) {
        var rest = Data()
        while true {
            let piece = try readSome()
            // What is left from before has no line end.
            var searched = rest.endIndex
            rest += piece
            while let end = rest[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                guard try send(line: rest[..<end]) else { return }
                rest = rest[(end + 1)...]
                searched = rest.startIndex
            }
            if rest.count > Self.longestLine {
                throw TransferFailure(.cannotRead, "a line of standard input is longer than 64 MiB")
            }
            guard !piece.isEmpty else {
                if !rest.isEmpty { _ = try send(line: rest) }
                return
            }
        }
    }

    private func readSome() throws(TransferFailure) -> Data {
        do throws(SystemFailure) {
            return try Descriptor.standardInput.readSome()
        } catch {
            throw TransferFailure(.cannotRead, "cannot read standard input: \(error.text)")
        }
    }

    private func send(line: Data) throws(TransferFailure) -> Bool {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw TransferFailure(.cannotRead, "a line of standard input is not UTF-8; --binary sends any bytes")
        }
        return send(.string(text))
    }

    /// Waits until the message has left. False if it does not leave any more.
    private func send(_ message: URLSessionWebSocketTask.Message) -> Bool {
        let hasLeft = DispatchSemaphore(value: 0)
        let isSent = Lock(false)
        task.send(message) { error in
            isSent.withLock { $0 = error == nil }
            hasLeft.signal()
        }
        hasLeft.wait()
        return isSent.withLock { $0 }
    }
}
