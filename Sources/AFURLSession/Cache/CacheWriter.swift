import AFState
import AFTransport
import AFWire
import Foundation

/// Takes the body of a response that may be stored: piece by piece, or whole at its end from a consumer that collects it
/// and counts the pieces here meanwhile. Confined to the loop.
///
/// It stores nothing unless ``finish()`` or ``finish(as:)`` is called. Call one of them only when the body has ended
/// where its framing says, and could be decoded.
final class CacheWriter: BodyTap {
    private let head: StoredHead
    private let request: CacheRequest
    private let scope: TrustScope
    private let limit: Int
    private let mayGoToDisk: Bool
    private let ticket: CacheTicket
    private let store: CacheStore
    private let access: CacheAccess
    /// How long the body is so far; nil once it is too long, or stored.
    private var length: Int?
    private var gathered = Data()

    /// - Parameters:
    ///   - limit: The longest body that is gathered.
    ///   - announced: The length of the body; negative if the response does not tell.
    ///   - access: Hears when the store has changed.
    init(
        head: StoredHead,
        request: CacheRequest,
        under scope: TrustScope,
        limit: Int,
        announced: Int64,
        mayGoToDisk: Bool,
        ticket: CacheTicket,
        store: CacheStore,
        access: CacheAccess
    ) {
        self.head = head
        self.request = request
        self.scope = scope
        self.limit = limit
        self.mayGoToDisk = mayGoToDisk
        self.ticket = ticket
        self.store = store
        self.access = access
        if announced > Int64(limit) { giveUp() } else { length = 0 }
    }

    /// Whether the response would be stored where a disk could keep it.
    var isForDisk: Bool { isStoring && mayGoToDisk }

    /// Whether the response would be stored if the body ended now.
    var isStoring: Bool { length != nil }

    func append(_ bytes: UnsafeRawBufferPointer) {
        count(bytes)
        if isStoring { gathered.append(contentsOf: bytes) }
    }

    /// A piece that ``receive(whole:)`` will bring.
    func count(_ bytes: UnsafeRawBufferPointer) {
        guard let length else { return }
        guard bytes.count <= limit - length else { return giveUp() }
        self.length = length + bytes.count
    }

    func receive(whole body: Data) {
        gathered = body
    }

    /// The body, if all of it is here.
    private var body: Data? { gathered.count == length ? gathered : nil }

    /// The response that would be stored, for the delegate to decide on. Nil if none would be stored.
    func proposal(at url: URL) -> CachedURLResponse? {
        body.map { body in
            CachedURLResponse(
                response: HTTPURLResponse(
                    url: url,
                    status: head.status,
                    version: head.version,
                    headers: head.headers,
                    decodes: head.isDecoded
                ),
                data: body,
                storagePolicy: mayGoToDisk ? .allowed : .allowedInMemoryOnly
            )
        }
    }

    /// Stores the response as it was received.
    func finish() {
        guard isStoring else { return }
        guard let body else { return giveUp() }
        let entry = CacheEntry(head: head, body: body, mayGoToDisk: mayGoToDisk)
        insert(entry)
    }

    /// Stores the response that the delegate returned; nil stores nothing.
    func finish(as answer: CachedURLResponse?) {
        guard isStoring else { return }
        guard let answer, answer.storagePolicy != .notAllowed else { return giveUp() }
        let http = answer.response as? HTTPURLResponse
        let headers = http.map { CacheRules.storedFields($0.headers) } ?? head.headers
        let own = StoredHead(
            key: head.key,
            partition: CachePartition(scope, for: request.identities, options: head.options),
            vary: (VaryField.names(in: headers) ?? []).map { VaryField($0, of: request.headers) },
            isDecoded: head.isDecoded,
            status: http?.statusCode ?? head.status,
            version: http?.version ?? head.version,
            headers: headers,
            requestTime: head.requestTime,
            responseTime: head.responseTime,
            responseMonotonic: head.responseMonotonic,
            options: head.options,
            cookies: head.cookies
        )
        let storage = CacheRules.mayStore(own, for: request)
        guard storage != .no else { return giveUp() }
        insert(CacheEntry(head: own, cached: answer, mayGoToDisk: mayGoToDisk && storage == .anywhere))
    }

    private func insert(_ entry: CacheEntry) {
        let (request, head, scope) = (request, head, scope)
        forget()
        let isStored = store.insert(entry, ticket: ticket) { former in
            CacheRules.matches(former.head, request: request, under: scope, decodes: head.isDecoded)
                || CacheRules.isForOtherCookies(
                    former.head,
                    request: request,
                    of: head.cookies,
                    under: scope,
                    decodes: head.isDecoded
                )
        }
        if isStored { access.catchUp() }
    }

    private func forget() {
        length = nil
        gathered = Data()
    }

    /// The response is not stored. The stored one that it would have replaced is outdated too: remove that.
    private func giveUp() {
        forget()
        let (request, head, scope) = (request, head, scope)
        let isGone = store.forgetAnswer(head.key) { entries in
            CacheRules.select(
                from: entries,
                head: \.head,
                for: request,
                under: scope,
                decodes: head.isDecoded
            )
        }
        if isGone { access.catchUp() }
    }
}
