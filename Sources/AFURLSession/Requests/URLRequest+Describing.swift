import Foundation

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The URL without user name and password.
    public var description: String {
        url?.textWithoutUserInfo ?? "url: nil"
    }

    /// Method, URL and the names of the header fields, without their values: they may be credentials.
    public var debugDescription: String {
        let names = contents.fields.map(\.name).joined(separator: ", ")
        return "\(contents.method) \(description) [\(names)]"
    }

    /// The parts for a debugger. Header values and the body are shown by their size only.
    public var customMirror: Mirror {
        let fields = contents.fields.map { "\($0.name): \($0.value.utf8.count) bytes" }
        return Mirror(
            self,
            children: [
                ("url", url?.textWithoutUserInfo as Any),
                ("httpMethod", contents.method),
                ("cachePolicy", cachePolicy),
                ("timeoutInterval", timeoutInterval),
                ("allHTTPHeaderFields", fields),
                ("httpBody", httpBody.map { "\($0.count) bytes" } as Any),
            ],
            displayStyle: .struct
        )
    }
}
