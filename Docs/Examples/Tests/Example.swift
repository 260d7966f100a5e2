import Foundation

/// Runs an example as its users do.
enum Example {
    struct Run {
        let code: Int32
        /// All that the program wrote, on both outputs.
        let output: String
        /// What of it the program wrote on standard error.
        let errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    /// The folder of the examples.
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()

    static func path(_ name: String) -> String {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent(name).path
    }

    static func run(_ name: String, _ arguments: [String] = []) async throws -> Run {
        try await start(path(name), arguments)
    }

    /// What a program writes goes to files: a pipe could fill up while no thread reads it.
    static func start(
        _ program: String,
        _ arguments: [String],
        environment: [String: String] = [:]
    ) async throws -> Run {
        let folder = try Folder()
        let files = ["output", "errors"].map { folder.url.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let handles = try files.map { try FileHandle(forWritingTo: $0) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = handles[0]
        process.standardError = handles[1]
        let code: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        for handle in handles { try handle.close() }
        let texts = try files.map { String(decoding: try Data(contentsOf: $0), as: UTF8.self) }
        return Run(code: code, output: texts.joined(), errors: texts[1])
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
