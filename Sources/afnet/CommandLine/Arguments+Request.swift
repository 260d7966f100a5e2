import AFURLSession
import Foundation

extension Arguments {
    /// One session for all URLs: that is what lets them share connections.
    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // Named here, although the session has its own, so that --verbose can show what is sent.
        configuration.httpAdditionalHeaders = Dictionary(uniqueKeysWithValues: Self.sessionFields)
        configuration.unixDomainSocketPath = unixSocket
        if maximumTime > 0 {
            configuration.timeoutIntervalForResource = maximumTime
            configuration.timeoutIntervalForRequest = maximumTime
        }
        return configuration
    }

    static let sessionFields = [("Accept", "*/*"), ("User-Agent", "afnet/\(Usage.version)")]

    func request(for url: URL, body: Data?) -> URLRequest {
        var request = URLRequest(url: url)
        if isHead { request.httpMethod = "HEAD" }
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        }
        if let method { request.httpMethod = method }
        apply(to: &request)
        return request
    }

    /// The first of a name replaces what we would send, the next ones are added to it.
    private func apply(to request: inout URLRequest) {
        var seen: Set<String> = []
        for field in fields {
            switch field {
            case .removed(let name): request.setValue(nil, forHTTPHeaderField: name)
            case .set(let name, let value) where seen.insert(name.lowercased()).inserted:
                request.setValue(value, forHTTPHeaderField: name)
            case .set(let name, let value): request.addValue(value, forHTTPHeaderField: name)
            }
        }
    }
}
