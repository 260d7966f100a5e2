extension URLRequest {
    var bodyText: String? { httpBody.map { String(decoding: $0, as: UTF8.self) } }
    var contentType: String? { value(forHTTPHeaderField: "Content-Type") }
}

extension HTTPRequestSerializer {
    func post(_ parameters: Any?, to url: String = "http://api.test/post") throws -> URLRequest {
        try request(withMethod: "POST", urlString: url, parameters: parameters)
    }

    func get(_ parameters: Any?, from url: String = "http://api.test/get") throws -> URLRequest {
        try request(withMethod: "GET", urlString: url, parameters: parameters)
    }

    /// The error of a request that cannot be made.
    func failure(_ parameters: Any?, method: String = "POST", url: String = "http://api.test/") -> NSError? {
        do {
            _ = try request(withMethod: method, urlString: url, parameters: parameters)
            return nil
        } catch {
            return error as NSError
        }
    }

    func archived() throws -> Self? {
        let data = try NSKeyedArchiver.archivedData(withRootObject: self, requiringSecureCoding: true)
        return try NSKeyedUnarchiver.unarchivedObject(ofClass: Self.self, from: data)
    }
}
