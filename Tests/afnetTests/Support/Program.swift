import AFFaults
import Foundation
import Glibc

/// Runs the program that was built with the tests.
struct Program {
    struct Run {
        let code: Int32
        let output: Data
        let errors: String

        var text: String { String(decoding: output, as: UTF8.self) }
    }

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("afnet")

    static var path: String { executable.path }

    typealias Folder = ScratchFolder

    /// Output and errors go to files, because a pipe without a reader would fill up.
    static func run(
        _ arguments: [String],
        input: Data = Data(),
        from source: FileHandle? = nil,
        environment: [String: String] = [:]
    ) async throws -> Run {
        let folder = try Folder()
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.make("output")))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.make("errors")))
        let file = try source ?? FileHandle(forReadingFrom: URL(fileURLWithPath: folder.make("input", input)))
        let code = try await start(arguments, file, output, errors, environment)
        return Run(
            code: code,
            output: folder.contents("output") ?? Data(),
            errors: String(decoding: folder.contents("errors") ?? Data(), as: UTF8.self)
        )
    }

    static func run(_ arguments: String...) async throws -> Run { try await run(arguments) }

    /// - Parameter input: Standard input.
    static func run(_ arguments: String..., input: String) async throws -> Run {
        try await run(arguments, input: Data(input.utf8))
    }

    /// A process that runs until it is interrupted.
    final class Running: Sendable {
        let folder: Folder
        private let end: Task<Int32, any Error>

        fileprivate init(_ folder: Folder, _ end: Task<Int32, any Error>) {
            self.folder = folder
            self.end = end
        }

        /// Its output so far.
        var text: String { String(decoding: folder.contents("output") ?? Data(), as: UTF8.self) }
        var errors: String { String(decoding: folder.contents("errors") ?? Data(), as: UTF8.self) }

        /// Waits for its first line.
        func firstLine() async throws -> String {
            let limit = ContinuousClock.now + .seconds(60)
            while !text.contains("\n"), ContinuousClock.now < limit { try await Task.sleep(for: .milliseconds(5)) }
            return text.components(separatedBy: "\n")[0]
        }

        /// Interrupts it and waits for its end.
        func interrupt(by signal: Int32 = SIGINT) async throws -> Int32 {
            let number = String(decoding: folder.contents("pid") ?? Data(), as: UTF8.self)
            if let pid = pid_t(number.trimmingCharacters(in: .whitespacesAndNewlines)) { kill(pid, signal) }
            return try await end.value
        }

        /// Waits for its end.
        func code() async throws -> Int32 { try await end.value }
    }

    /// Starts it without waiting for its end.
    ///
    /// - Parameter input: Standard input, open until it is released.
    static func begin(_ arguments: [String], input: Pipe? = nil) throws -> Running {
        let folder = try Folder()
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.make("output")))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.make("errors")))
        // `exec` keeps the shell's process id for the program.
        let script = "echo $$ > \"$0\"; exec \"$@\""
        let words = ["-c", script, folder.path("pid"), executable.path] + arguments
        let end = Task {
            try await ChildProcess.run(
                "/bin/sh",
                words,
                environment: ProcessInfo.processInfo.environment,
                input: input?.fileHandleForReading.fileDescriptor,
                output: output.fileDescriptor,
                errors: errors.fileDescriptor
            )
        }
        return Running(folder, end)
    }

    /// Runs the program with standard output as a pipe without a reader.
    static func runWithoutReader(_ arguments: String...) async throws -> Run {
        let folder = try Folder()
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.make("errors")))
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let code = try await start(arguments, nil, pipe.fileHandleForWriting, errors)
        let text = String(decoding: folder.contents("errors") ?? Data(), as: UTF8.self)
        return Run(code: code, output: Data(), errors: text)
    }

    /// Runs the program with standard output and standard error on a terminal, whose text is the output.
    static func runOnTerminal(_ arguments: String...) async throws -> Run {
        let terminal = try Terminal()
        let code = try await start(arguments, nil, terminal.device, terminal.device)
        return Run(code: code, output: terminal.finish(), errors: "")
    }

    static func run(on terminal: Terminal, _ arguments: [String]) async throws -> Int32 {
        try await start(arguments, nil, terminal.device, terminal.device)
    }

    /// Runs a script of the shell, in which `"$@"` is the program with its arguments, and returns what the terminal shows.
    static func runOnTerminal(inShell script: String, _ arguments: [String]) async throws -> String {
        let terminal = try Terminal()
        _ = try await ChildProcess.run(
            "/bin/sh",
            ["-c", script, "sh", executable.path] + arguments,
            environment: ProcessInfo.processInfo.environment,
            output: terminal.device.fileDescriptor,
            errors: terminal.device.fileDescriptor
        )
        return String(decoding: terminal.finish(), as: UTF8.self)
    }

    /// Runs a script of the shell in which `"$@"` is the program with its arguments.
    static func run(inShell script: String, _ arguments: [String]) async throws -> Run {
        let folder = try Folder()
        let output = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.make("output")))
        let errors = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.make("errors")))
        let code = try await ChildProcess.run(
            "/bin/sh",
            ["-c", script, "sh", executable.path] + arguments,
            environment: ProcessInfo.processInfo.environment,
            output: output.fileDescriptor,
            errors: errors.fileDescriptor
        )
        return Run(
            code: code,
            output: folder.contents("output") ?? Data(),
            errors: String(decoding: folder.contents("errors") ?? Data(), as: UTF8.self)
        )
    }

    private static func start(
        _ arguments: [String],
        _ input: FileHandle?,
        _ output: FileHandle,
        _ errors: FileHandle,
        _ environment: [String: String] = [:]
    ) async throws -> Int32 {
        try await ChildProcess.run(
            executable.path,
            arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            input: input?.fileDescriptor,
            output: output.fileDescriptor,
            errors: errors.fileDescriptor
        )
    }
}

extension ScratchFolder {
    func path(_ name: String) -> String { file(name).path }
    func make(_ name: String, _ contents: some DataProtocol = Data()) throws -> String {
        try write(name, contents).path
    }
    func contents(_ name: String) -> Data? { FileManager.default.contents(atPath: path(name)) }
}
