import AFTorture
import Foundation
import Glibc

do {
    let arguments = try TortureArguments(CommandLine.arguments.dropFirst())
    if let scenario = arguments.played {
        guard LibraryFaults.begin() else { throw TortureArguments.Mistake(description: "OpenSSL has memory already") }
        await play(scenario, arguments.options)
    } else {
        let stages = FileManager.default.temporaryDirectory.appending(path: "af-torture-\(getpid())")
        let director = Director(
            arguments.scenarios,
            program: "/proc/self/exe",
            options: arguments.options,
            stages: stages
        )
        let isClean = try director.run()
        if isClean { try? FileManager.default.removeItem(at: stages) }
        exit(isClean ? 0 : 1)
    }
} catch {
    FileHandle.standardError.write(Data("torture: \(error)\n".utf8))
    exit(2)
}

/// Plays one scenario in this process, and tells of it on standard output.
func play(_ scenario: Scenario, _ options: Torture.Options) async {
    // The default, as in most programs: the parent process may have set it to be ignored.
    signal(SIGPIPE, SIG_DFL)
    let torture = Torture(
        scenario,
        sources: [SystemFaults(), LibraryFaults()],
        options: options,
        temporary: FileManager.default.temporaryDirectory
    ) { report in
        let line = Array((report.line + "\n").utf8)
        _ = write(1, line, line.count)
    }
    await torture.run()
    exit(0)
}
