import Dispatch
import Foundation
import Glibc

/// The command line client: makes the standard streams safe, reads the arguments, runs the transfers.
@main
enum Afnet {
    static func main() {
        StandardStreams.prepare()
        let words = Array(CommandLine.arguments.dropFirst())
        // Callbacks run on the main queue, so that all state of the command is the main actor's.
        Task { @MainActor in
            let code = await run(words)
            exit(code.rawValue)
        }
        dispatchMain()
    }

    @MainActor private static func run(_ words: [String]) async -> ExitCode {
        let arguments: Arguments
        do throws(ArgumentError) {
            arguments = try Arguments(words)
        } catch {
            Console(isSilent: false).report("\(error.message); see afnet --help")
            return error.code
        }
        switch arguments.action {
        case .help: return show(Usage.text)
        case .version: return show("afnet \(Usage.version)\n")
        case .transfer, .pins: return await start(arguments)
        }
    }

    @MainActor private static func start(_ arguments: Arguments) async -> ExitCode {
        let console = Console(isSilent: arguments.isSilent && !arguments.showsErrors)
        do throws(TransferFailure) {
            guard arguments.action == .pins else { return try await Client(arguments, console).run() }
            try await PinsCommand(arguments).run()
            return .done
        } catch {
            console.report(error, isVerbose: arguments.isVerbose)
            return error.code
        }
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
