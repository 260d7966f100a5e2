import AFFaults
import Foundation

/// Runs an example as its users do.
enum Example {
    struct Run {
        let code: Int32
        let output: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// The folder of this package's examples.
    static let folder = (1...3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appendingPathComponent("Docs/Examples")

    static func path(_ name: String) -> String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    static func run(_ name: String, _ arguments: [String] = []) async throws -> Run {
        try await start(path(name), arguments)
    }

    /// What a program writes goes to a file: a pipe could fill up while no thread reads it.
    static func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> Run {
        let folder = try Folder()
        let file = folder.url.appendingPathComponent("output")
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        let code = try await ChildProcess.run(
            program,
            arguments,
            environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
            output: output.fileDescriptor,
            errors: output.fileDescriptor
        )
        try output.close()
        return Run(code: code, output: String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }
}

/// A folder of its own for each test, removed when the last reference goes away.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("examples-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }
}

/// A value that several threads change.
final class Box<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var stored: Value

    init(_ value: Value) {
        stored = value
    }

    var value: Value { lock.withLock { stored } }

    func change(_ body: (inout Value) -> Void) { lock.withLock { body(&stored) } }
}

struct WaitedInVain: Error {}

/// Waits for a condition, for a minute at most.
func eventually(_ condition: () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
        guard ContinuousClock.now < end else { throw WaitedInVain() }
        try await Task.sleep(for: .milliseconds(2))
    }
}
