import AFBase
import AFLoop
import AFNetworkingTesting
package import AFURLSession
package import Foundation
import Glibc

/// Where a scenario is played: its servers, its sessions, its files, and the books about all that happens.
///
/// Made anew for each playing. A fault may spoil a step, which is then in the books; that a step went wrong in any other
/// way, and whatever is left over at the end, is a finding.
package final class Stage: Sendable {
    struct State {
        var findings: [String] = []
        var failures: [String] = []
        var step = "the beginning"
        var books: [any Book] = []
        var servers: [TestServer] = []
        var players: [Player] = []
        var secrets: [Secret] = []
        var calls: [[Int32: Int]] = []
        var stores: [@Sendable () -> Void] = []
    }

    /// A session, and how to see whether it still works.
    struct Player: Sendable {
        let session: URLSession
        /// A manager, which its session does not hold, and without which it loads nothing.
        let delegate: (any URLSessionDelegate)?
        let again: URL?
    }

    let state = Lock(State())
    let world: StageWorld
    let sources: [any FaultSource]
    /// The fault of this playing; nil if there is none.
    package let point: FaultPoint?
    /// Numbers that are the same whenever the same fault is tried again.
    let seed: UInt64
    /// A folder of its own, empty at first. The stage does not care what is in it at the end.
    package let folder: URL
    private let mayFail: Int

    init(
        _ scenario: Scenario,
        point: FaultPoint?,
        sources: [any FaultSource],
        seed: UInt64,
        temporary: URL
    ) throws {
        self.point = point
        self.sources = sources
        self.seed = seed
        mayFail = scenario.mayFail
        world = StageWorld(seed: seed)
        // Late work, such as a store that is still to be saved, does not get into the next playing.
        folder = temporary.appending(path: "stage-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    /// How often each call was made until the end, of each source: none fails after it.
    var calls: [[Int32: Int]] { state.withLock { $0.calls } }

    /// A program may notice the fault of this playing. If not, every step has to succeed.
    var isSpoilt: Bool { point.map { !$0.fault.isHidden } ?? false }

    // MARK: - Findings

    /// A finding unless the condition holds, whatever the fault.
    package func demand(_ condition: Bool, _ what: @autoclosure () -> String) {
        if !condition { find(what()) }
    }

    package func find(_ what: String) {
        state.withLock { $0.findings.append("\($0.step): \(what)") }
    }

    // MARK: - Steps

    /// Does something that the fault may spoil.
    ///
    /// - Parameters:
    ///   - what: It in a few words, for findings.
    ///   - codes: Codes of `URLError` that it may end with beside those of a broken world, such as -999.
    /// - Returns: What `body` returns; nil if it threw, which goes into the books.
    @discardableResult
    package func step<Result>(
        _ what: String,
        orCodes codes: Set<Int> = [],
        _ body: () async throws -> Result
    ) async -> Result? {
        state.withLock { $0.step = what }
        do {
            return try await body()
        } catch {
            note(error, in: what, orCodes: codes)
            return nil
        }
    }

    /// Does something that must not succeed, whatever the fault.
    ///
    /// - Parameter codes: The codes of `URLError` with which it is refused. With another one, it was spoilt.
    package func refusal<Result>(_ what: String, codes: Set<Int>, _ body: () async throws -> Result) async {
        state.withLock { $0.step = what }
        do {
            _ = try await body()
            find("\(what) succeeds")
        } catch {
            if let error = error as? URLError, codes.contains(error.code.rawValue) {
                judge(error, in: what, orCodes: codes)
            } else {
                note(error, in: what)
            }
        }
    }

    /// Enters a failure into the books: for what reports it in another way than by throwing.
    package func note(_ error: any Error, in what: String, orCodes codes: Set<Int> = []) {
        let text = "\(what): \(ErrorRules.text(of: error).prefix(400))"
        state.withLock { $0.failures.append(text) }
        judge(error, in: what, orCodes: codes)
    }

    /// Looks at an error itself.
    private func judge(_ error: any Error, in what: String, orCodes codes: Set<Int>) {
        let complaint = ErrorRules.complaint(about: error, orCodes: codes)
        state.withLock { state in
            if let complaint { state.findings.append("\(what): \(complaint)") }
        }
        hear(ErrorRules.text(of: error), "\(what): the error")
    }

    /// Looks for secrets in what a program may log, or what was written to a file.
    private func hear(_ text: String, _ whose: @autoclosure () -> String) {
        hear(Data(text.utf8), whose())
    }

    private func hear(_ data: Data, _ whose: @autoclosure () -> String) {
        for secret in state.withLock({ $0.secrets }) where !secret.isInURLs && secret.isIn(data) {
            find("\(whose()) tells the secret \(secret.name)")
        }
    }

    /// Loads with a completion handler. A finding if it succeeds with anything but what is expected.
    ///
    /// - Parameter refusal: The status that says that it was spoilt: 401 if an answer to a challenge could not be made.
    /// - Returns: What came; nil if it failed.
    @discardableResult
    package func load(
        _ request: URLRequest,
        in session: URLSession,
        status: Int = 200,
        orRefusal refusal: Int? = nil,
        expecting text: String? = nil
    ) async -> Data? {
        let what = "\(request.httpMethod ?? "GET") \(request.url?.path ?? "")"
        return await step(what) {
            let completion = self.completion(of: what, as: Result<Loaded, any Error>.self)
            let task = session.dataTask(with: request) { completion.call(Loaded.result($0, $1, $2)) }
            task.resume()
            let loaded = try await completion.value().get()
            for described in [task, loaded.response as Any] as [Any] {
                hear("\(described) \(String(reflecting: described))", "the description of a task or its response")
            }
            if let refusal, loaded.status == refusal { throw Refused(status: refusal) }
            demand(loaded.status == status, "status \(loaded.status), not \(status)")
            if let text {
                demand(loaded.data == Data(text.utf8), "\(loaded.data.count) bytes that are not the \(text.utf8.count)")
            }
            return loaded.data
        }
    }

    /// Loads with a completion handler.
    @discardableResult
    package func load(
        _ url: URL,
        in session: URLSession,
        status: Int = 200,
        orRefusal refusal: Int? = nil,
        expecting text: String? = nil
    ) async -> Data? {
        await load(URLRequest(url: url), in: session, status: status, orRefusal: refusal, expecting: text)
    }

    /// A handler that must be called exactly once, and waits to be.
    package func completion<Value: Sendable>(of what: String, as type: Value.Type) -> Completion<Value> {
        let completion = Completion<Value>(what)
        state.withLock { $0.books.append(completion) }
        return completion
    }

    // MARK: - The end

    /// Looks whether everything works again, ends what there is, and looks for what should not be.
    ///
    /// - Returns: The findings.
    func finish() async -> [String] {
        for source in sources { source.disarm() }
        let calls = sources.map { source in
            Dictionary(uniqueKeysWithValues: Set(source.faults.map(\.number)).map { ($0, source.calls(of: $0)) })
        }
        state.withLock { $0.calls = calls }
        let failures = state.withLock { $0.failures }
        let allowed = isSpoilt ? mayFail : 0
        if failures.count > allowed {
            find("\(failures.count) steps failed, not \(allowed) at most: \(failures.joined(separator: " | "))")
        }
        await playAgain()
        hearDescriptions()
        await endSessions()
        let (books, servers, secrets) = state.withLock { ($0.books, $0.servers, $0.secrets) }
        for complaint in books.compactMap(\.complaint) { find(complaint) }
        for server in servers {
            for secret in secrets where secret.wasTold(to: server) {
                find("the server at port \(server.port) was told the secret \(secret.name)")
            }
            server.stop()
        }
        if let excess = await world.excess() { find("left in the loop: \(excess)") }
        if !(await world.stop()) { find("the loop of the stage does not stop") }
        for store in state.withLock({ $0.stores }) { store() }
        readFiles()
        // A thread may be writing a file to it at this moment.
        _ = await Patience.until {
            try? FileManager.default.removeItem(at: folder)
            return !FileManager.default.fileExists(atPath: folder.path)
        }
        return state.withLock { state in
            // What holds these may hold the stage.
            state.players = []
            state.books = []
            state.servers = []
            state.stores = []
            return state.findings
        }
    }

    /// Has what is kept in the folder written before it is looked at and removed: a late writer would make it anew.
    ///
    /// - Parameter write: Returns when nothing is left to be written.
    package func bringUpToDate(_ write: @escaping @Sendable () -> Void) {
        state.withLock { $0.stores.append(write) }
    }

    private func playAgain() async {
        let players = state.withLock { state in
            state.step = "afterwards"
            return state.players
        }
        for player in players {
            guard let url = player.again else { continue }
            let completion = completion(of: "a request afterwards", as: Result<Loaded, any Error>.self)
            player.session.dataTask(with: url) { completion.call(Loaded.result($0, $1, $2)) }.resume()
            switch await completion.value() {
            case .success(let loaded):
                demand(loaded.data == Data("again".utf8), "\(loaded.data.count) bytes that are not `again`")
            case .failure(let error): find("the session is of no use any more: \(ErrorRules.text(of: error))")
            }
        }
    }

    private func hearDescriptions() {
        for session in state.withLock({ $0.players.map(\.session) }) {
            for described in [session, session.configuration] as [Any] {
                hear("\(described) \(String(reflecting: described))", "the description of a session")
            }
        }
    }

    private func readFiles() {
        guard state.withLock({ !$0.secrets.isEmpty }) else { return }
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects ?? []
        for case let file as URL in files {
            if let data = try? Data(contentsOf: file) { hear(data, "the file \(file.lastPathComponent)") }
        }
    }

    private func endSessions() async {
        var sessions: [WeakSession] = []
        state.withLock { state in
            state.step = "the end of the sessions"
            for player in state.players {
                player.session.invalidateAndCancel()
                sessions.append(WeakSession(player.session))
            }
            state.players = []
        }
        for session in sessions {
            if !(await Patience.until({ session.isGone })) { find("a session is never released") }
        }
    }

    /// What a watchdog says of where it stands.
    var whereabouts: String {
        state.withLock { state in
            let open = state.books.compactMap(\.openEntry).joined(separator: ", ")
            return "in \(state.step)\(open.isEmpty ? "" : "; never ended: \(open)")"
        }
    }
}

private struct WeakSession {
    private weak var session: URLSession?
    init(_ session: URLSession) { self.session = session }
    var isGone: Bool { session == nil }
}

/// A server has refused what the fault kept from being right.
private struct Refused: Error {
    let status: Int
}

/// What a task with a completion handler has brought.
package struct Loaded: Sendable {
    package let data: Data
    package let response: URLResponse?

    package var status: Int { (response as? HTTPURLResponse)?.statusCode ?? 0 }
    package var text: String { String(decoding: data, as: UTF8.self) }

    /// What a completion handler was called with.
    package static func result(
        _ data: Data?,
        _ response: URLResponse?,
        _ error: (any Error)?
    ) -> Result<Loaded, any Error> {
        if let error { return .failure(error) }
        return .success(Loaded(data: data ?? Data(), response: response))
    }
}
