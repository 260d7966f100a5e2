import AFWire
package import Foundation

extension URLRequest {
    /// A command for a POSIX shell that sends the same request with `curl`, on one line unless the request itself has
    /// line breaks.
    ///
    /// A body that is text and no longer than 64 KiB stands in the command. If it is not text, `printf` makes it from
    /// the numbers of its bytes, through a pipe. The command reads a longer body, or a stream, from standard input. It sends
    /// the body as it is, whatever its ``bodyCoding``, and no ``trailers``, for which `curl` has no option.
    /// ``/AFURLSession/URLSessionTask/curlCommand(masksSecrets:followsRedirects:sensitiveFields:)`` also has what a
    /// session adds.
    ///
    /// - Parameters:
    ///   - masksSecrets: Whether `***` stands in place of credentials, cookies and keys in header fields and of query
    ///   and form items like `access_token`, and the URL has no user name and password. The mask does not look into
    ///   other bodies.
    ///   - followsRedirects: Whether `curl` follows them too.
    ///   - sensitiveFields: Further header fields whose values are secrets, by name.
    public func curlCommand(
        masksSecrets: Bool = true,
        followsRedirects: Bool = false,
        sensitiveFields: Set<String> = []
    ) -> String {
        var command = CurlCommand(request: self, body: curlBody)
        if command.sendsBytes, let type = contents.impliedBodyType {
            command.fields.append(("Content-Type", type))
        }
        return command.text(
            masksSecrets ? SecretMask(sensitiveFields: sensitiveFields) : nil,
            followsRedirects: followsRedirects
        )
    }

    private var curlBody: CurlCommand.Body {
        if bodyStream != nil { return .stream(length: announcedLength) }
        return CurlCommand.Body(httpBody, method: contents.method)
    }
}

extension URLRequest {
    package var announcedLength: Int? {
        contents.fields["Content-Length"].flatMap { $0.withUTF8Bytes(ByteScanning.decimal) }.flatMap(Int.init(exactly:))
    }
}

extension CurlCommand {
    package init(request: URLRequest, body: Body) {
        method = request.contents.method
        url = request.url
        fields = request.contents.fields.map { ($0.name, $0.value) }
        self.body = body
    }

    /// True if there was one.
    package mutating func remove(_ name: String) -> Bool {
        let count = fields.count
        fields.removeAll { HTTPText.isSameName($0.name, other: name) }
        return fields.count < count
    }
}

extension CurlCommand.Body {
    /// A request without a body announces an empty one if its method usually has a body.
    package init(_ data: Data?, method: String) {
        if let data, !data.isEmpty {
            self = .data(data)
        } else if ["POST", "PUT", "PATCH"].contains(method) {
            self = .data(Data())
        } else {
            self = .none
        }
    }
}
