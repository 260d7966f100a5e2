import AFWire

extension WireRequest {
    /// The request as a proxy that reads requests gets it: with the whole URL in its first line, and with our
    /// credentials for the proxy (RFC 9112 §3.2.2). By any other way it is sent unchanged.
    func addressed(by route: ProxyRoute?) -> WireRequest {
        guard let route, !route.tunnels(to: endpoint) else { return self }
        var head = headBytes
        var added = 0
        let isAnswered = HeadField("Proxy-Authorization", []).line(in: head) != nil
        if !isAnswered, let authorization = route.authorization, let place = endOfHostLine(head) {
            let line = Array("Proxy-Authorization: \(authorization)\r\n".utf8)
            head.insert(contentsOf: line, at: place)
            added += line.count
        }
        let place = Array("\(endpoint.scheme.text)://\(endpoint.hostField)".utf8)
        head.insert(contentsOf: place, at: method.utf8.count + 1)
        return WireRequest(self, headBytes: head, expectation: expectation?.moved(by: added + place.count))
    }

    /// `Host` is always the first field.
    private func endOfHostLine(_ head: [UInt8]) -> Int? {
        guard let first = head.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
        return head[(first + 1)...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 }
    }
}
