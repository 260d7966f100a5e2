import AFBase
import Dispatch
import Foundation
import Glibc

/// The command line client: prepares the standard streams, reads the arguments and runs the command.
@main
enum Afnet {
    static func main() {
        StandardStreams.prepare()
        if let code = StartUp.missingThreads() {
            let reason = "no thread can be started: \(String(cString: strerror(code)))"
            Console(isSilent: false).report("\(reason); allow more processes (ulimit -u)")
            exit(ExitCode.cannotConnect.rawValue)
        }
        let words = CommandWords.given
        // Callbacks run on the main queue, because all state of a command belongs to the main actor.
        Task { @MainActor in
            await StartUp.openDispatch()
            let code = await run(words)
            exit(code.rawValue)
        }
        dispatchMain()
    }

    @MainActor private static func run(_ given: [[UInt8]]) async -> ExitCode {
        let words: [String]
        do throws(ArgumentError) {
            words = try CommandWords.text(of: given)
        } catch {
            Console(isSilent: false).report(error.message)
            return error.code
        }
        switch words.first {
        case "cookies": return await CookiesCommand(Array(words.dropFirst())).run()
        case "verify-chain": return VerifyChainCommand.run(Array(words.dropFirst()))
        default: break
        }
        let groups: [Arguments]
        var rest = WordQueue(words)
        do throws(ArgumentError) {
            defer { CommandWords.blank(rest.secrets) }
            if takesConfigOfUser(words) { try rest.insert(ConfigFile.ofUser()) }
            groups = try Arguments.groups(&rest)
            if let path = groups.lazy.compactMap(\.errorFile).last { try replaceStandardError(by: path) }
        } catch {
            Console(isSilent: false).report("\(error.message); see afnet --help")
            return error.code
        }
        let first = groups.first { $0.action != .transfer } ?? groups[0]
        switch first.action {
        case .transfer: return await Client().run(groups.map { $0.askingForPasswords() })
        case .help: return show(on: first.topic ?? first.urls.first)
        case .version: return show("afnet \(PackageVersion.current)\n")
        default: return await command(first)
        }
    }

    /// Whether the options in the user's home folder hold: for transfers, unless the first word is `-q`.
    private static func takesConfigOfUser(_ words: [String]) -> Bool {
        guard let first = words.first, first != "--disable", !first.hasPrefix("-q") else { return false }
        return Arguments.Action(rawValue: first) == nil
    }

    private static func replaceStandardError(by path: String) throws(ArgumentError) {
        do throws(SystemFailure) {
            try Descriptor.replaceStandardError(by: path)
        } catch {
            throw ArgumentError(code: .cannotWrite, message: "--stderr: \(path): \(error.text)")
        }
    }

    @MainActor private static func command(_ arguments: Arguments) async -> ExitCode {
        do throws(TransferFailure) {
            switch arguments.action {
            case .pins: return try await PinsCommand(arguments).run()
            case .images: return try await ImagesCommand(arguments.askingForPasswords()).run()
            case .lint: return try LintCommand(arguments).run()
            case .reach: return try await ReachCommand(arguments).run()
            case .serve: return try await ServeCommand(arguments).run()
            case .events: return try await EventsCommand(arguments.askingForPasswords()).run()
            case .ws: return try await WebSocketCommand(arguments.askingForPasswords()).run()
            case .completion: return show(try Completions(named: arguments.urls.first ?? "").text)
            case .transfer, .help, .version: return .usage
            }
        } catch {
            Console(arguments).report(error, isVerbose: arguments.isVerbose)
            return error.code
        }
    }

    /// - Parameter topic: Nil for the first screen.
    private static func show(on topic: String?) -> ExitCode {
        if let text = HelpText.text(on: topic) { return show(text) }
        let nearest = topic.flatMap { Nearest.name(to: $0, among: HelpTopicName.allCases.map(\.rawValue)) }
        let advice = nearest.map { "did you mean \($0)?" } ?? "there are \(HelpText.topics)"
        Console(isSilent: false).report("there is no topic \(topic ?? ""); \(advice)")
        return .usage
    }

    private static func show(_ text: String) -> ExitCode {
        do throws(SystemFailure) {
            try Descriptor.standardOutput.write(Data(text.utf8))
            return .done
        } catch {
            return .cannotWrite
        }
    }
}

/// The standard streams that the process inherits.
enum StandardStreams {
    static func prepare() {
        // If the reader of a pipe goes away, write(2) fails and does not end the process.
        signal(SIGPIPE, SIG_IGN)
        // The next socket would get the number of a closed stream, and bodies would go into that socket. A stream
        // opened in the wrong direction fails like a closed one.
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) == -1 {
            _ = open("/dev/null", mode)
        }
    }
}
