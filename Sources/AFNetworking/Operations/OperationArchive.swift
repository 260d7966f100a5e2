import Foundation

/// The archived values of an operation, without its response. They are bytes of JSON: Foundation's unarchiver ends the
/// process at an object of an unexpected class.
struct OperationArchive: Codable {
    static let response = "AF.operation.response"
    private static let key = "AF.operation"

    private struct Failure: Codable {
        var domain: String
        var code: Int
        var description: String
    }

    private var url: String?
    private var method: String?
    private var fields: [String: String]?
    private var body: Data?
    private var timeout: TimeInterval
    private var cachePolicy: UInt
    private var handlesCookies: Bool
    // Archives of former versions lack these.
    private var addsStoredCookies: Bool?
    private var usesHTTP10: Bool?
    private var sendsBodyWithAnyMethod: Bool?
    private var withheldFields: Set<String>?
    private var failure: Failure?
    /// Written as AFNetworking does, and not read: an operation from an archive is ready.
    private var phase: Int
    var responseData: Data?
    var totalBytesRead: Int64

    init(_ state: OperationState) {
        let request = state.wholeRequest
        url = request.url?.absoluteString
        method = request.httpMethod
        fields = request.allHTTPHeaderFields
        body = request.httpBody
        timeout = request.timeoutInterval
        cachePolicy = request.cachePolicy.rawValue
        handlesCookies = request.httpShouldHandleCookies
        addsStoredCookies = request.addsStoredCookies
        usesHTTP10 = request.usesHTTP10
        sendsBodyWithAnyMethod = request.sendsBodyWithAnyMethod
        withheldFields = request.withheldHeaderFields
        failure = state.error.map { error in
            let error = error as NSError
            return Failure(domain: error.domain, code: error.code, description: error.localizedDescription)
        }
        let isUnderWay = state.machine.phase == .executing || state.machine.phase == .paused
        phase = (isUnderWay ? OperationPhase.ready : state.machine.phase).rawValue
        responseData = state.responseData
        totalBytesRead = state.totalBytesRead
    }

    init?(_ coder: NSCoder) {
        guard coder.allowsKeyedCoding, let data = coder.decodeObject(of: NSData.self, forKey: Self.key),
            let archive = try? ArchivedJSON.value(OperationArchive.self, in: data as Data)
        else { return nil }
        self = archive
    }

    func write(to coder: NSCoder) {
        guard let data = try? ArchivedJSON.data(self) else { return }
        coder.encode(data as NSData, forKey: Self.key)
    }

    var request: URLRequest? {
        guard let url = url.flatMap({ URL(string: $0) }) else { return nil }
        let policy = URLRequest.CachePolicy(rawValue: cachePolicy) ?? .useProtocolCachePolicy
        var request = URLRequest(url: url, cachePolicy: policy, timeoutInterval: timeout)
        request.httpMethod = method
        request.allHTTPHeaderFields = fields
        request.httpShouldHandleCookies = handlesCookies
        request.addsStoredCookies = addsStoredCookies ?? false
        request.usesHTTP10 = usesHTTP10 ?? false
        request.sendsBodyWithAnyMethod = sendsBodyWithAnyMethod ?? false
        request.withheldHeaderFields = withheldFields ?? []
        if let body { request.httpBody = body }
        return request
    }

    var error: (any Error)? {
        failure.map { failure in
            let details = [NSLocalizedDescriptionKey: failure.description]
            guard failure.domain == NSURLErrorDomain, let code = URLError.Code(rawValue: failure.code) else {
                return NSError(domain: failure.domain, code: failure.code, userInfo: details)
            }
            return URLError(code, userInfo: details)
        }
    }
}

extension OperationState {
    /// The state of an operation that is ready and has the archived values.
    init(request: URLRequest, archive: OperationArchive) {
        self.init(request)
        error = archive.error
        responseData = archive.responseData
        totalBytesRead = archive.totalBytesRead
    }
}
