import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation
import Glibc

extension Data {
    /// Bytes none of which is where another could be: their period is a prime.
    static func pattern(_ count: Int, from start: Int = 0) -> Data {
        let period = (0..<1021).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) }
        var data = Data(capacity: count + period.count)
        while data.count < count + start % period.count { data.append(contentsOf: period) }
        return Data(data.dropFirst(start % period.count).prefix(count))
    }
}

extension URLRequest {
    init(_ method: String, _ url: URL, _ fields: [String: String] = [:], body: Data? = nil) {
        self.init(url: url)
        httpMethod = method
        httpBody = body
        for (name, value) in fields { setValue(value, forHTTPHeaderField: name) }
    }
}

extension Stage {
    /// A file of the scenario's own.
    func file(_ name: String, holding content: Data = Data()) throws -> URL {
        let url = folder.appending(path: name)
        try content.write(to: url)
        return url
    }

    /// The names of the files in a folder, which need not exist.
    func names(in folder: URL) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    /// A server has got at most so many whole bodies for a path, and each of them is this one.
    func demandBodies(_ body: Data, at path: String, of server: TestServer, atMost limit: Int = 1) {
        let bodies = server.requests.filter { $0.path == path && $0.isComplete }.map(\.body)
        demand(bodies.count <= limit, "\(bodies.count) bodies at \(path), not \(limit)")
        for other in bodies where other != body {
            find("\(other.count) bytes at \(path) that are not the \(body.count)")
        }
    }

    /// Nothing is left where downloads of a session gather but what can still be gone on with.
    ///
    /// Files are removed after the completion, on threads of their own. A file that cannot be looked at or removed
    /// stays until the next cleaning of that folder.
    ///
    /// - Parameter parts: How many there may be to go on with; nil for one if there was a fault.
    func demandNoLeftovers(in temporary: URL, parts: Int? = nil) async {
        let gathering = temporary.appending(path: "AFURLSession-\(geteuid())")
        if ["unlinkat", "fstat"].contains(point?.fault.call) { return }
        let isClean = await Patience.until {
            let names = self.names(in: gathering)
            return names.allSatisfy { $0.hasSuffix(".partial") } && names.count <= parts ?? (point == nil ? 0 : 1)
        }
        demand(isClean, "left behind: \(names(in: gathering))")
    }

    /// A manager that calls back on a queue of its own, and whose session ends with the stage.
    func manager(
        at base: URL,
        again: URL?,
        _ configure: (URLSessionConfiguration) -> Void = { _ in }
    ) -> HTTPSessionManager {
        let configuration = URLSessionConfiguration.ephemeral
        configure(configuration)
        let manager = HTTPSessionManager(baseURL: base, sessionConfiguration: configuration)
        manager.completionQueue = DispatchQueue(label: "AFTorture.completions")
        adopt(manager.session, again: again)
        return manager
    }

    /// Does something with a manager that the fault may spoil: the reason is what went wrong with the transfer.
    @discardableResult
    func call<Result>(_ what: String, _ body: () async throws(RequestFailure) -> Result) async -> Result? {
        await step(what) {
            do throws(RequestFailure) {
                return try await body()
            } catch {
                throw error.error
            }
        }
    }
}
