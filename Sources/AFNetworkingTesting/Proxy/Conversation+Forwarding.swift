import AFWire

/// HTTP as a proxy speaks it: requests for other servers are forwarded.
struct HTTPProxyService: ConnectionService {
    let proxy: ProxyCore

    func serve(_ conversation: Conversation) throws(ConnectionEnd) -> Never {
        try conversation.serveHTTP { request throws(RequestReader.Failure) in
            try conversation.forward(request, by: proxy)
        }
    }
}

extension Conversation {
    /// Forwards a request for another server. False if it is for this one.
    fileprivate func forward(_ request: RecordedRequest, by proxy: ProxyCore) throws(RequestReader.Failure) -> Bool {
        if request.method == "CONNECT" {
            let target = ProxyTarget(authority: request.target.utf8, usualPort: nil)
            try forward(request, to: target, path: nil, by: proxy)
            return true
        }
        guard request.target.utf8.contains(UInt8(ascii: ":")), request.target.utf8.first != UInt8(ascii: "/") else {
            return false
        }
        let target = AbsoluteTarget(request.target)
        try forward(request, to: target?.target, path: target?.path, by: proxy)
        return true
    }

    private func forward(
        _ request: RecordedRequest,
        to target: ProxyTarget?,
        path: String?,
        by proxy: ProxyCore
    ) throws(RequestReader.Failure) {
        guard let target else {
            return try answer(request, with: .text("the proxy cannot read the target\n").status(400))
        }
        var record = RecordedForwarding(
            connection: connection,
            means: path == nil ? .tunnel : .request,
            target: target,
            user: nil
        )
        switch proxy.admission(of: request) {
        case .challenged(let challenge, let reason):
            record.outcome = .refused(reason)
            _ = proxy.open(record)
            let reply = ServerReply.text(reason + "\n").status(407).header("Proxy-Authenticate", challenge)
            try answer(request, with: reply)
        case .welcome(let user):
            record.user = user
            let number = proxy.open(record)
            let forwarding = Forwarding(proxy: proxy, number: number, target: target, behaviour: proxy.takeBehaviour())
            defer { proxy.close(number, as: .ended) }
            try carryOut(forwarding, for: request, path: path)
        }
    }

    private func carryOut(
        _ forwarding: Forwarding,
        for request: RecordedRequest,
        path: String?
    ) throws(RequestReader.Failure) {
        switch forwarding.behaviour.action {
        case .answer(let reply):
            try decline(forwarding, of: request, with: reply, because: "it was told to answer itself")
        case .raw(let bytes):
            try decline(forwarding, of: request, with: .raw(bytes: bytes).keepAlive(false), because: "it was told to")
        case .refuse: try decline(forwarding, of: request, with: .status(502), because: "it was told to refuse")
        case .forward:
            let result: Forwarding.Result
            do throws(ConnectionEnd) {
                result = try forwarding.connect(for: stream)
            } catch {
                core.record(request)
                throw .over(error)
            }
            switch result {
            case .refused(let status, let reason, _):
                try decline(forwarding, of: request, with: .text(reason + "\n").status(status), because: reason)
            case .connected(let upstream):
                if let path {
                    let forwarding = RequestForwarding(self, forwarding: forwarding, upstream: upstream)
                    try forwarding.run(request, path: path)
                } else {
                    try tunnel(forwarding, to: upstream, for: request)
                }
            }
        }
    }

    private func decline(
        _ forwarding: Forwarding,
        of request: RecordedRequest,
        with reply: ServerReply,
        because reason: String
    ) throws(RequestReader.Failure) {
        forwarding.proxy.close(forwarding.number, as: .refused(reason))
        try answer(request, with: reply)
    }

    private func tunnel(
        _ forwarding: Forwarding,
        to upstream: Upstream,
        for head: RecordedRequest
    ) throws(RequestReader.Failure) {
        var request = head
        // CONNECT has no body: the bytes after it belong to the tunnel.
        request.isComplete = true
        core.record(request)
        let sent = request
        try overIfEnded { () throws(ConnectionEnd) in
            _ = try transmit(forwarding.behaviour.success, to: sent)
            try openTunnel(forwarding, to: upstream)
        }
    }

    /// Passes bytes both ways until the tunnel ends.
    func openTunnel(_ forwarding: Forwarding, to upstream: Upstream) throws(ConnectionEnd) -> Never {
        let stream = stream
        if !forwarding.behaviour.surplus.isEmpty {
            try forwarding.behaviour.surplus.withBytes { bytes throws(ConnectionEnd) in try stream.send(bytes) }
        }
        let tunnel = Tunnel(
            stream,
            to: upstream,
            early: reader.takeUnread(),
            meter: forwarding.meter,
            behaviour: forwarding.behaviour
        )
        try tunnel.run()
    }
}
