import Foundation
import Glibc
import Testing
import afnet

@Suite struct QuietTerminalTests {
    @Test func `a password is typed without echo`() async {
        await #expect(processExitsWith: .success) {
            let terminal = try #require(ControllingTerminal())
            let typist = Typist(terminal, after: "password: ", types: "secreX\u{7F}t\r")

            #expect(PasswordQuestion.ask("password: ") == "secret")
            #expect(typist.sawNoEcho)
            #expect(terminal.echoes)
            #expect(terminal.shows("\n"), "the end of the line")
        }
    }

    @Test func `Ctrl-C interrupts the question for a password, and the terminal echoes again`() async {
        await #expect(processExitsWith: .success) {
            let terminal = try #require(ControllingTerminal())
            let interruptions = Interruptions()
            let typist = Typist(terminal, after: "password: ", types: "sec\u{3}")

            #expect(PasswordQuestion.ask("password: ") == nil)
            #expect(typist.sawNoEcho)
            #expect(interruptions.haveCome)
            #expect(terminal.echoes)
        }
    }

    @Test func `Ctrl-C interrupts the question for graphics, and the terminal echoes again`() async {
        await #expect(processExitsWith: .success) {
            let terminal = try #require(ControllingTerminal())
            let interruptions = Interruptions()
            let typist = Typist(terminal, after: "\u{1B}[c", types: "\u{3}")

            #expect(TerminalQuestion.ask(patience: .seconds(60)) == .blocks)
            #expect(typist.sawNoEcho)
            #expect(interruptions.haveCome)
            #expect(terminal.echoes)
        }
    }

    @Test func `Ctrl-C ends a process that handles no interruption`() async {
        await #expect(processExitsWith: .signal(SIGINT)) {
            let terminal = try #require(ControllingTerminal())
            let typist = Typist(terminal, after: "password: ", types: "\u{3}")
            _ = PasswordQuestion.ask("password: ")
            _ = typist.sawNoEcho
        }
    }

    @Test func `the answer of a terminal that draws sixels arrives`() async {
        await #expect(processExitsWith: .success) {
            let terminal = try #require(ControllingTerminal())
            let typist = Typist(terminal, after: "\u{1B}[c", types: "\u{1B}[?62;4c")

            #expect(TerminalQuestion.ask(patience: .seconds(60)) == .sixel)
            #expect(typist.sawNoEcho)
            #expect(terminal.echoes)
        }
    }
}

/// Types as soon as the terminal shows a question.
private final class Typist: @unchecked Sendable {
    private let isDone = DispatchSemaphore(value: 0)
    private var hasSeenNoEcho = false

    init(_ terminal: ControllingTerminal, after question: String, types text: String) {
        Thread.detachNewThread { [self] in
            if terminal.shows(question) {
                hasSeenNoEcho = !terminal.echoes
                terminal.type(text)
            }
            isDone.signal()
        }
    }

    /// Whether the terminal showed the question, and would not have echoed the answer.
    var sawNoEcho: Bool {
        isDone.wait()
        return hasSeenNoEcho
    }
}

/// Takes the interruptions of this process.
private struct Interruptions {
    private let source: any DispatchSourceSignal
    private let arrived = DispatchSemaphore(value: 0)

    init() {
        signal(SIGINT, SIG_IGN)
        source = DispatchSource.makeSignalSource(signal: SIGINT, queue: DispatchQueue(label: "interruptions"))
        source.setEventHandler { [arrived] in arrived.signal() }
        // An ignored signal that comes before is lost.
        let isRegistered = DispatchSemaphore(value: 0)
        source.setRegistrationHandler { isRegistered.signal() }
        source.resume()
        isRegistered.wait()
    }

    var haveCome: Bool { arrived.wait(timeout: .now() + 60) == .success }
}
