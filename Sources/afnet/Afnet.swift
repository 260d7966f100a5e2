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
        case .transfer: return await Client(arguments).run()
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
