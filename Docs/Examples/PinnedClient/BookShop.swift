import AFNetworking
import Foundation

/// A client for one API: typed calls, typed errors, and a server that is known by its key.
///
/// ```swift
/// let shop = try BookShop(at: api, pins: PinSet([inUse], backups: [spare]))
/// let book = try await shop.book(7)
/// ```
struct BookShop: Sendable {
    struct Book: Codable, Equatable, Sendable {
        var id: Int
        var title: String
    }

    struct Order: Codable, Equatable, Sendable {
        var book: Int
        var copies: Int
    }

    struct Receipt: Codable, Equatable, Sendable {
        var number: Int
    }

    /// What callers can do something about.
    enum Failure: Error, Equatable {
        case noSuchBook
        /// The server says no, and perhaps why.
        case refused(status: Int, reason: String?)
        /// The server that answered is not ours. Nothing was sent there. Worth a report.
        case impostor(String)
        /// There is no connection; later there may be.
        case unreachable(String)
        /// The server and we do not understand each other.
        case misunderstanding(String)
        case cancelled
    }

    private let manager: HTTPSessionManager

    /// - Parameters:
    ///   - url: Where the API is. With https: over http no pin would be looked at, and requests fail.
    ///   - pins: Keys of the server, with a backup.
    ///   - configuration: For proxies, time limits, or authorities of your own.
    init(at url: URL, pins: PinSet, configuration: URLSessionConfiguration = .ephemeral) throws {
        let policy = SecurityPolicy()
        policy.hostRules = [try .pins(url.host() ?? "", pins)]
        // Redirects lead nowhere else either.
        policy.refusesHostsWithoutRule = true
        manager = HTTPSessionManager(baseURL: url, sessionConfiguration: configuration)
        manager.requestSerializer = JSONRequestSerializer()
        manager.securityPolicy = policy
    }

    /// The manager lives until its session is told to end.
    func close() { manager.invalidateSessionCancelingTasks(true, resetSession: false) }

    func book(_ id: Int) async throws(Failure) -> Book {
        do throws(RequestFailure) {
            return try await manager.get("books/\(id)", decode: Book.self)
        } catch {
            throw error.statusCode == 404 ? .noSuchBook : Failure(error)
        }
    }

    func order(_ order: Order) async throws(Failure) -> Receipt {
        do throws(RequestFailure) {
            return try await manager.post("orders", parameters: order, decode: Receipt.self)
        } catch {
            throw Failure(error)
        }
    }
}

extension BookShop.Failure {
    fileprivate init(_ failure: RequestFailure) {
        switch failure.kind {
        case .cancelled: self = .cancelled
        case .status: self = .refused(status: failure.statusCode ?? 0, reason: failure.reason)
        case .transport where failure.loadFailure?.reason == .trust:
            self = .impostor(failure.loadFailure?.message ?? failure.description)
        case .transport: self = .unreachable(failure.error.localizedDescription)
        case .request, .contentType, .decoding: self = .misunderstanding(failure.error.localizedDescription)
        @unknown default: self = .misunderstanding(failure.error.localizedDescription)
        }
    }
}

extension RequestFailure {
    /// What the loading system knows; for a server that is refused it lies under the manager's own error.
    fileprivate var loadFailure: LoadFailure? {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey]
        return underlying as? LoadFailure ?? (underlying as? URLError)?.loadFailure
    }

    /// This API says in its errors `{"error": "why"}`.
    fileprivate var reason: String? {
        data.flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }?["error"]
    }
}
