import Foundation

extension RequestSettings {
    private enum Key {
        static let headers = "mutableHTTPRequestHeaders"
        static let queryStyle = "queryStringSerializationStyle"
        static let stringEncoding = "stringEncoding"
        static let allowsCellularAccess = "allowsCellularAccess"
        static let cachePolicy = "cachePolicy"
        static let handlesCookies = "HTTPShouldHandleCookies"
        static let usesPipelining = "HTTPShouldUsePipelining"
        static let networkServiceType = "networkServiceType"
        static let timeout = "timeoutInterval"
        static let methodsInURI = "HTTPMethodsEncodingParametersInURI"
    }

    /// Nil if what was written is damaged.
    init?(_ coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return nil }
        if coder.containsValue(forKey: Key.headers) {
            let texts = coder.decodeObject(of: [NSDictionary.self, NSString.self], forKey: Key.headers)
            guard let headers = texts as? [String: String] else { return nil }
            self.headers = headers
        }
        if coder.containsValue(forKey: Key.methodsInURI) {
            let texts = coder.decodeObject(of: [NSArray.self, NSString.self], forKey: Key.methodsInURI)
            guard let methods = texts as? [String] else { return nil }
            methodsInURI = Set(methods)
        }
        if let style = coder.number(forKey: Key.queryStyle) {
            queryStyle = HTTPRequestQueryStringSerializationStyle(rawValue: style) ?? .defaultStyle
        }
        if let encoding = coder.number(forKey: Key.stringEncoding) { stringEncoding = .init(rawValue: encoding) }
        cachePolicy = coder.number(forKey: Key.cachePolicy).flatMap(URLRequest.CachePolicy.init)
        networkServiceType = coder.number(forKey: Key.networkServiceType)
            .flatMap(URLRequest.NetworkServiceType.init)
        allowsCellularAccess = coder.truth(forKey: Key.allowsCellularAccess)
        handlesCookies = coder.truth(forKey: Key.handlesCookies)
        usesPipelining = coder.truth(forKey: Key.usesPipelining)
        if coder.containsValue(forKey: Key.timeout) { timeout = coder.decodeDouble(forKey: Key.timeout) }
    }

    /// All but the query block, which is code.
    func encode(with coder: NSCoder) {
        coder.encode(NSDictionary(dictionary: headers), forKey: Key.headers)
        coder.encode(NSArray(array: methodsInURI.sorted()), forKey: Key.methodsInURI)
        coder.encode(Int(bitPattern: queryStyle.rawValue), forKey: Key.queryStyle)
        coder.encode(Int(bitPattern: stringEncoding.rawValue), forKey: Key.stringEncoding)
        if let cachePolicy { coder.encode(Int(cachePolicy.rawValue), forKey: Key.cachePolicy) }
        if let networkServiceType { coder.encode(Int(networkServiceType.rawValue), forKey: Key.networkServiceType) }
        if let allowsCellularAccess { coder.encode(allowsCellularAccess, forKey: Key.allowsCellularAccess) }
        if let handlesCookies { coder.encode(handlesCookies, forKey: Key.handlesCookies) }
        if let usesPipelining { coder.encode(usesPipelining, forKey: Key.usesPipelining) }
        if let timeout { coder.encode(timeout, forKey: Key.timeout) }
    }
}

extension NSCoder {
    /// Nil if there is none.
    func number(forKey key: String) -> UInt? {
        containsValue(forKey: key) ? UInt(bitPattern: decodeInteger(forKey: key)) : nil
    }

    fileprivate func truth(forKey key: String) -> Bool? {
        containsValue(forKey: key) ? decodeBool(forKey: key) : nil
    }
}
