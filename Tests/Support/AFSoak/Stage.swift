import AFLoop
import AFNetworking
import Foundation

/// One of the ports of the other side.
typealias Port = any KeyPath<Addresses, UInt16> & Sendable

/// What all kinds share: where the servers are, whom to trust, and a folder.
final class Stage: Sendable {
    let addresses: Addresses
    let authority: Certificate
    let foreignAuthority: Certificate
    let folder: URL

    init(_ addresses: Addresses) throws {
        self.addresses = addresses
        authority = try Certificate(der: addresses.authority)
        foreignAuthority = try Certificate(der: addresses.foreignAuthority)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("afnet-soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    func url(_ path: String, _ port: Port = \.plain) -> URL {
        let isPlain = port == \Addresses.plain || port == \Addresses.closed
        return URL(string: "\(isPlain ? "http" : "https")://127.0.0.1:\(addresses[keyPath: port])\(path)")
            ?? URL(fileURLWithPath: "/")
    }

    /// Trusts our authority.
    var tls: TLSConfiguration {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority])
        return tls
    }

    /// Trusts both authorities, and only one of them for the pins.
    func pinned(to certificate: Certificate) -> TLSConfiguration {
        var tls = TLSConfiguration()
        tls.anchors = .certificates([authority, foreignAuthority])
        tls.evaluator = SecurityPolicy(pinningMode: .publicKey, certificates: [certificate])
        return tls
    }

    func session(delegate: (any URLSessionDelegate)? = nil) -> URLSession { session(delegate: delegate) { _ in } }

    func session(
        delegate: (any URLSessionDelegate)? = nil,
        _ configure: (URLSessionConfiguration) throws -> Void
    ) rethrows -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.tls = tls
        configuration.urlCache = nil
        configuration.temporaryFolder = folder
        configuration.httpMaximumConnectionsPerHost = 64
        try configure(configuration)
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}

/// How something ended.
struct End: Sendable, CustomStringConvertible {
    var status: Int?
    var data: Data?
    var error: (any Error)?

    init(_ data: Data? = nil, _ response: URLResponse? = nil, _ error: (any Error)? = nil) {
        (self.data, self.error) = (data, error)
        status = (response as? HTTPURLResponse)?.statusCode
    }

    var code: Int? {
        guard let error else { return nil }
        return (error as? URLError)?.code.rawValue ?? (error as NSError).code
    }

    var description: String {
        if let code { return "\(code)" }
        return "\(status.map { "status \($0) and " } ?? "")\(data?.count ?? 0) bytes"
    }
}

/// Something did not end as it should.
struct WrongEnd: Error, CustomStringConvertible {
    let kind: String
    let expected: String
    let end: End

    var description: String { "\(kind): expected \(expected), but it was \(end)" }
}

/// One thing that clients do, or that happens to them, to be done again and again.
struct Kind: Sendable {
    /// The stage is set; this is what is done on it.
    struct Act: Sendable {
        /// Does it once. The number is another each time.
        ///
        /// - Returns: How it ended. One whose Swift task is cancelled may also end with -999.
        let once: @Sendable (_ number: Int) async throws -> End
        /// Lets go of everything.
        var end: @Sendable () async throws -> Void = {}
    }

    enum Expectation: Sendable, CustomStringConvertible {
        case text(String)
        case bytes(count: Int, ownSeed: Bool)
        case status(Int)
        case code(Set<Int>)
        /// Done, whatever there is.
        case done

        var description: String {
            switch self {
            case .text(let text): "\"\(text)\""
            case .bytes(let count, _): "\(count) bytes of a pattern"
            case .status(let status): "status \(status)"
            case .code(let codes): codes.sorted().map(String.init).joined(separator: " or ")
            case .done: "an end without an error"
            }
        }

        func isMet(by end: End, number: Int) -> Bool {
            switch self {
            case .text(let text): end.error == nil && end.data == Data(text.utf8)
            case .bytes(let count, let ownSeed):
                end.error == nil && end.data == Pattern.bytes(count, seed: ownSeed ? number : 3)
            case .status(let status): end.error == nil && end.status == status
            case .code(let codes): end.code.map(codes.contains) ?? false
            case .done: end.error == nil
            }
        }
    }

    let name: String
    let expects: Expectation
    /// How many at a time, at most.
    var width = 6
    /// It changes the whole process, and must have it to itself.
    var isAlone = false
    /// Bytes that the second half of a run may take in all: what tables, pools and the caches of two threads do.
    var allowance = 131_072.0
    /// It takes as long as so many others, and is done so many times less.
    var length = 1
    let prepare: @Sendable (Stage) throws -> Act

    /// It works on queues: each of their threads keeps up to 1024 of the 64 bytes in which a block waits.
    var onQueues: Kind {
        var kind = self
        kind.allowance = 16 * 65_536
        return kind
    }

    func asLong(as length: Int) -> Kind {
        var kind = self
        kind.length = length
        return kind
    }

    /// Does it once, and checks how it ended.
    ///
    /// - Returns: How it ended.
    @discardableResult
    func perform(_ act: Act, _ number: Int, mayBeCancelled: Bool = false) async throws -> End {
        let end: End
        do {
            end = try await act.once(number)
        } catch {
            end = End(nil, nil, error)
        }
        let isCancelled = mayBeCancelled && end.code == URLError.cancelled.rawValue
        guard isCancelled || expects.isMet(by: end, number: number) else {
            throw WrongEnd(kind: name, expected: "\(expects)", end: end)
        }
        return end
    }
}
