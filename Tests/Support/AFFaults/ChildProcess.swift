import CAFTestSupport
package import Foundation
import Glibc

/// Runs a program and waits for its end.
///
/// In the place of Foundation's `Process`, which hears of an end by a descriptor that whatever else is started at the
/// same moment inherits as well: then it ends for us when the last of those has ended.
package enum ChildProcess {
    /// Other code of this process has waited for the child, and how it ended is not known.
    package struct LostChild: Error {}

    package struct CannotStart: Error, CustomStringConvertible {
        package let description: String
    }

    /// Runs a program; the thread of the caller is free meanwhile.
    ///
    /// - Parameters:
    ///   - program: Its path.
    ///   - environment: All that it gets.
    ///   - input: A descriptor to read from, nil for none; likewise `output` and `errors`.
    ///   - seconds: After which it is killed.
    /// - Returns: Its exit code, or the number of the signal that has ended it, as a negative number.
    package static func run(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        input: Int32? = nil,
        output: Int32? = nil,
        errors: Int32? = nil,
        within seconds: Int = 300
    ) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result {
                        try runAndWait(
                            program,
                            arguments,
                            environment: environment,
                            input: input,
                            output: output,
                            errors: errors,
                            within: seconds
                        )
                    }
                )
            }
        }
    }

    /// Runs a program, and blocks until it ends.
    package static func runAndWait(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        input: Int32? = nil,
        output: Int32? = nil,
        errors: Int32? = nil,
        within seconds: Int = 300
    ) throws -> Int32 {
        let child = try start(
            program,
            arguments,
            environment: environment,
            input: input,
            output: output,
            errors: errors
        )
        return try end(of: child, within: seconds)
    }

    /// Starts a program; the caller waits for its end.
    ///
    /// - Returns: Its number.
    package static func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        input: Int32? = nil,
        output: Int32? = nil,
        errors: Int32? = nil
    ) throws -> pid_t {
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(nothing) }
        let words = ([program] + arguments).map { strdup($0) }
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        defer { (words + variables).forEach { free($0) } }
        let child = caft_spawn(
            program,
            words + [nil],
            variables + [nil],
            input ?? nothing,
            output ?? nothing,
            errors ?? nothing
        )
        guard child > 0 else {
            throw CannotStart(description: "\(program) cannot be started: \(String(cString: strerror(-child)))")
        }
        return child
    }

    /// Starts a program that is read from while it runs.
    ///
    /// - Returns: Its number, for ``wait(for:)``, and a descriptor with what it writes, which is the caller's to close.
    package static func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String],
        errors: Int32
    ) throws -> (child: pid_t, output: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            throw CannotStart(description: "there is no pipe for \(program): \(String(cString: strerror(errno)))")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        let words = ([program] + arguments).map { strdup($0) }
        let variables = environment.map { strdup("\($0.key)=\($0.value)") }
        defer {
            (words + variables).forEach { free($0) }
            close(nothing)
            close(ends[1])
        }
        let child = caft_spawn(program, words + [nil], variables + [nil], nothing, ends[1], errors)
        guard child > 0 else {
            close(ends[0])
            throw CannotStart(description: "\(program) cannot be started: \(String(cString: strerror(-child)))")
        }
        return (child, ends[0])
    }

    /// Blocks until a child ends.
    ///
    /// - Returns: As ``run(_:_:environment:input:output:errors:within:)`` does; -1 for a lost child.
    package static func wait(for child: pid_t) -> Int32 {
        (try? end(of: child, within: 60)) ?? -1
    }

    /// Runs a program, and blocks until it ends.
    ///
    /// - Returns: How it ended, as of ``run(_:_:environment:input:output:errors:within:)``, and what it wrote.
    package static func answer(
        of program: String,
        _ arguments: [String],
        environment: [String: String],
        input: String = "",
        withErrors: Bool = true
    ) throws -> (status: Int32, output: Data) {
        // Files, since a pipe can fill up while no thread reads it.
        let folder = FileManager.default.temporaryDirectory.appending(path: "af-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (inputFile, outputFile) = (folder.appending(path: "input"), folder.appending(path: "output"))
        try Data(input.utf8).write(to: inputFile)
        try Data().write(to: outputFile)
        let source = try FileHandle(forReadingFrom: inputFile)
        let output = try FileHandle(forWritingTo: outputFile)
        let status = try withExtendedLifetime((source, output)) {
            try runAndWait(
                program,
                arguments,
                environment: environment,
                input: source.fileDescriptor,
                output: output.fileDescriptor,
                errors: withErrors ? output.fileDescriptor : nil
            )
        }
        return (status, try Data(contentsOf: outputFile))
    }

    private static func end(of child: pid_t, within seconds: Int) throws -> Int32 {
        var status: Int32 = 0
        let limit = ContinuousClock.now + .seconds(seconds)
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { break }
            if ended < 0, errno != EINTR { throw LostChild() }
            if ContinuousClock.now > limit { kill(child, SIGKILL) }
            usleep(1000)
        }
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : -signal
    }
}
