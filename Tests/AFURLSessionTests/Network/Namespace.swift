import AFFaults

/// Network namespaces: machines of our own, as far as interfaces, addresses and routes are concerned.
///
/// A thread that enters one leaves the others of its process behind, so the tests that need one are run again by a
/// process that is in it from its first moment.
enum Namespace {
    /// In a process that was started in one.
    static let isInside = ProcessInfo.processInfo.environment[variable] != nil

    /// Whether the system lets us have one, and has the tool to change it with.
    static let isPossible: Bool = {
        guard !isInside, tool("unshare") != nil, tool("ip") != nil else { return false }
        return (try? run(["true"]))?.status == 0
    }()

    private static let variable = "AFNET_TEST_NAMESPACE"

    struct Outcome {
        let status: Int32
        let output: String
    }

    /// Runs the tests of a suite in a namespace of their own.
    static func test(_ suite: String) async throws -> Outcome {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // It takes a while, and other tests need the threads that tests run on.
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "Namespace").async {
                let arguments = [program, "--testing-library", "swift-testing", "--filter", suite]
                continuation.resume(with: Result { try run(arguments) })
            }
        }
    }

    /// Runs a command in a namespace.
    private static func run(_ command: [String]) throws -> Outcome {
        // Of its own: links, and what is mounted where; and the rights to change both.
        let rights = geteuid() == 0 ? [] : ["--user", "--map-root-user"]
        return try execute("unshare", rights + ["--net", "--mount"] + command, variables: [variable: "1"])
    }

    /// Runs a tool and waits for it.
    static func execute(
        _ name: String,
        _ arguments: [String],
        variables: [String: String] = [:],
        input: String = ""
    ) throws -> Outcome {
        let path = try #require(tool(name), "there is no \(name)").path
        let environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        let (status, output) = try ChildProcess.answer(of: path, arguments, environment: environment, input: input)
        return Outcome(status: status, output: String(decoding: output, as: UTF8.self))
    }

    private static func tool(_ name: String) -> URL? {
        ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].map { URL(filePath: $0).appending(path: name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }
}

/// The cable of a machine in a namespace: `v0` is its interface, `v1` the other end.
enum Cable {
    /// Lines as for `ip`, all of which have to succeed.
    static func change(_ lines: String...) throws {
        let outcome = try Namespace.execute("ip", ["-batch", "-"], input: lines.joined(separator: "\n") + "\n")
        guard outcome.status == 0 else { throw CableError(message: outcome.output) }
    }

    /// Begins anew: the loopback interface is up, and there is nothing else.
    static func unplug() throws {
        try? change("link del v0")
        try? change("addr flush dev lo scope global")
        // Whatever a test has left is no business of the next.
        try? change("link del w0")
        try change("link set lo up")
    }

    /// An address of IPv4, and no route yet.
    static func plug() throws {
        try unplug()
        try change(
            "link add v0 type veth peer name v1",
            "link set v0 addrgenmode none",
            "link set v1 addrgenmode none",
            "link set v0 up",
            "link set v1 up",
            "addr add 192.0.2.5/24 dev v0"
        )
        // The kernel notices a moment later that the cable has two ends.
        for _ in 1...10_000 {
            guard NetworkMonitor().currentPath.interfaces.contains(where: { !$0.isRunning }) else { return }
            usleep(1000)
        }
        throw CableError(message: "the cable stays unplugged: \(NetworkMonitor().currentPath.interfaces)")
    }
}

struct CableError: Error {
    let message: String
}
