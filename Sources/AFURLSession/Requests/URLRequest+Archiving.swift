import Foundation

/// The parts of an archived request.
private enum RequestKey: String {
    case url = "URL"
    case method
    case fields
    case body
    case terms
}

extension URLRequest {
    /// Nil if the archive has no request, or if its terms cannot be read: they may withhold fields.
    init?(from coder: NSCoder) {
        guard coder.allowsKeyedCoding, let terms = coder.data(.terms).flatMap({ RequestTerms($0) }) else { return nil }
        self = .unknown
        url = coder.text(.url).flatMap { URL(string: $0) }
        httpMethod = coder.text(.method)
        let fields = coder.data(.fields).flatMap { try? JSONDecoder().decode([String: String].self, from: $0) }
        allHTTPHeaderFields = fields
        httpBody = coder.data(.body)
        terms.apply(to: &self)
    }

    /// Leaves out interceptors, properties and streams, which cannot be archived.
    func encode(to coder: NSCoder) {
        guard coder.allowsKeyedCoding else { return }
        coder.encode(url?.absoluteString.asObject, forKey: RequestKey.url.rawValue)
        coder.encode(httpMethod?.asObject, forKey: RequestKey.method.rawValue)
        let fields = allHTTPHeaderFields.flatMap { try? JSONEncoder().encode($0) }
        coder.encode(fields.map(NSData.init(data:)), forKey: RequestKey.fields.rawValue)
        coder.encode(httpBody.map(NSData.init(data:)), forKey: RequestKey.body.rawValue)
        coder.encode(NSData(data: RequestTerms(of: self).encoded), forKey: RequestKey.terms.rawValue)
    }
}

extension String {
    fileprivate var asObject: NSString { NSString(string: self) }
}

extension NSCoder {
    fileprivate func text(_ key: RequestKey) -> String? {
        decodeObject(of: NSString.self, forKey: key.rawValue).map { String(describing: $0) }
    }

    fileprivate func data(_ key: RequestKey) -> Data? {
        decodeObject(of: NSData.self, forKey: key.rawValue).map { Data(referencing: $0) }
    }
}
