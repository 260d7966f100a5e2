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
        let groups: [Arguments]
        do throws(ArgumentError) {
            groups = try Arguments.groups(words)
        } catch {
            Console(isSilent: false).report("\(error.message); see afnet --help")
            return error.code
        }
        switch groups.first(where: { $0.action != .transfer })?.action {
        case .help: return show(Usage.text)
        case .version: return show("afnet \(Usage.version)\n")
        case .pins: return await inspect(groups[0])
        case .images: return await show(groups[0])
        case .transfer, nil: return await Client().run(groups)
        }
    }

    @MainActor private static func inspect(_ arguments: Arguments) async -> ExitCode {
        do throws(TransferFailure) {
            try await PinsCommand(arguments).run()
            return .done
        } catch {
            Console(arguments).report(error, isVerbose: arguments.isVerbose)
            return error.code
        }
    }

    @MainActor private static func show(_ arguments: Arguments) async -> ExitCode {
        do throws(TransferFailure) {
            return try await ImagesCommand(arguments).run()
        } catch {
            Console(arguments).report(error, isVerbose: arguments.isVerbose)
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
