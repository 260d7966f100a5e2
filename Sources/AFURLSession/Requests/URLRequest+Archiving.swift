import Foundation

/// The parts of an archived request.
private enum RequestKey: String {
    case url = "URL"
    case cachePolicy
    case timeoutInterval
    case method
    case fields
    case body
    case mainDocumentURL
    case serviceType
    case refusesCellular
    case refusesCookies
    case usesPipelining
    case withheldFields
    case usesHTTP10
    case addsStoredCookies
}

extension URLRequest {
    /// Nil if there is none in the archive.
    init?(from coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        self = .unknown
        url = coder.text(.url).flatMap { URL(string: $0) }
        httpMethod = coder.text(.method)
        mainDocumentURL = coder.text(.mainDocumentURL).flatMap { URL(string: $0) }
        let fields = coder.data(.fields).flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }
        allHTTPHeaderFields = fields
        httpBody = coder.data(.body)
        if let policy = coder.number(.cachePolicy).flatMap({ CachePolicy(rawValue: UInt(clamping: $0)) }) {
            cachePolicy = policy
        }
        if coder.contains(.timeoutInterval) {
            timeoutInterval = coder.decodeDouble(forKey: RequestKey.timeoutInterval.rawValue)
        }
        if let type = coder.number(.serviceType).flatMap({ NetworkServiceType(rawValue: UInt(clamping: $0)) }) {
            networkServiceType = type
        }
        allowsCellularAccess = !coder.flag(.refusesCellular)
        httpShouldHandleCookies = !coder.flag(.refusesCookies)
        httpShouldUsePipelining = coder.flag(.usesPipelining)
        let withheld = coder.contains(.withheldFields) ? coder.data(.withheldFields) : nil
        withheldHeaderFields = withheld.flatMap { try? JSONDecoder().decode(Set<String>.self, from: $0) } ?? []
        usesHTTP10 = coder.flag(.usesHTTP10)
        addsStoredCookies = coder.flag(.addsStoredCookies)
    }

    /// Without what is the program's own, and without a stream.
    func encode(to coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url?.absoluteString.asObject, forKey: RequestKey.url.rawValue)
        coder.encode(httpMethod?.asObject, forKey: RequestKey.method.rawValue)
        coder.encode(mainDocumentURL?.absoluteString.asObject, forKey: RequestKey.mainDocumentURL.rawValue)
        let fields = allHTTPHeaderFields.flatMap { try? JSONEncoder().encode($0) }
        coder.encode(fields.map(NSData.init(data:)), forKey: RequestKey.fields.rawValue)
        coder.encode(httpBody.map(NSData.init(data:)), forKey: RequestKey.body.rawValue)
        if let policy = explicitCachePolicy {
            coder.encode(Int64(policy.rawValue), forKey: RequestKey.cachePolicy.rawValue)
        }
        if let timeout = explicitTimeout { coder.encode(timeout, forKey: RequestKey.timeoutInterval.rawValue) }
        coder.encode(Int64(networkServiceType.rawValue), forKey: RequestKey.serviceType.rawValue)
        coder.encode(!allowsCellularAccess, forKey: RequestKey.refusesCellular.rawValue)
        coder.encode(!httpShouldHandleCookies, forKey: RequestKey.refusesCookies.rawValue)
        coder.encode(httpShouldUsePipelining, forKey: RequestKey.usesPipelining.rawValue)
        if !withheldHeaderFields.isEmpty, let names = try? JSONEncoder().encode(withheldHeaderFields) {
            coder.encode(NSData(data: names), forKey: RequestKey.withheldFields.rawValue)
        }
        coder.encode(usesHTTP10, forKey: RequestKey.usesHTTP10.rawValue)
        coder.encode(addsStoredCookies, forKey: RequestKey.addsStoredCookies.rawValue)
    }
}

extension String {
    fileprivate var asObject: NSString { NSString(string: self) }
}

extension NSCoder {
    fileprivate func contains(_ key: RequestKey) -> Bool { containsValue(forKey: key.rawValue) }

    fileprivate func text(_ key: RequestKey) -> String? {
        decodeObject(of: NSString.self, forKey: key.rawValue).map { String(describing: $0) }
    }

    fileprivate func data(_ key: RequestKey) -> Data? {
        decodeObject(of: NSData.self, forKey: key.rawValue).map { Data(referencing: $0) }
    }

    fileprivate func number(_ key: RequestKey) -> Int64? {
        contains(key) ? decodeInt64(forKey: key.rawValue) : nil
    }

    fileprivate func flag(_ key: RequestKey) -> Bool {
        contains(key) && decodeBool(forKey: key.rawValue)
    }
}
