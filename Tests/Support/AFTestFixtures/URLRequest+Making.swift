package import AFURLTypes
package import Foundation

extension URLRequest {
    package init(_ method: String, _ url: URL, body: Data? = nil, fields: [String: String] = [:]) {
        self.init(url: url)
        httpMethod = method
        httpBody = body
        for (name, value) in fields { setValue(value, forHTTPHeaderField: name) }
    }
}
