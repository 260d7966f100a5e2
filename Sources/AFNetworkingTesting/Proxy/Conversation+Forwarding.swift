import AFWire

/// What an HTTP proxy does that a server does not.
extension Conversation {
    /// Carries out a request that is for somebody else. False if it is for this server itself.
    func forward(_ request: RecordedRequest, by proxy: ProxyCore) throws(RequestReader.Failure) -> Bool {
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
            let errand = Errand(proxy: proxy, number: number, target: target, behaviour: proxy.takeBehaviour())
            defer { proxy.close(number, .ended) }
            try carryOut(errand, for: request, path: path)
        }
    }

    private func carryOut(
        _ errand: Errand,
        for request: RecordedRequest,
        path: String?
    ) throws(RequestReader.Failure) {
        switch errand.behaviour.action {
        case .answer(let reply): try decline(errand, request, with: reply, "it was told to answer itself")
        case .raw(let bytes): try decline(errand, request, with: .raw(bytes: bytes).keepAlive(false), "it was told to")
        case .refuse: try decline(errand, request, with: .status(502), "it was told to refuse")
        case .forward:
            let result: Errand.Result
            do throws(Farewell) {
                result = try errand.connect(for: stream)
            } catch {
                core.record(request)
                throw .over(error)
            }
            switch result {
            case .refused(let status, let reason, _):
                try decline(errand, request, with: .text(reason + "\n").status(status), reason)
            case .connected(let upstream):
                if let path {
                    let forwarding = RequestForwarding(self, errand, upstream)
                    try forwarding.run(request, path: path)
                } else {
                    try tunnel(errand, upstream, for: request)
                }
            }
        }
    }

    private func decline(
        _ errand: Errand,
        _ request: RecordedRequest,
        with reply: ServerReply,
        _ reason: String
    ) throws(RequestReader.Failure) {
        errand.proxy.close(errand.number, .refused(reason))
        try answer(request, with: reply)
    }

    private func tunnel(
        _ errand: Errand,
        _ upstream: Upstream,
        for head: RecordedRequest
    ) throws(RequestReader.Failure) {
        var request = head
        // After CONNECT there is no body: what follows belongs into the tunnel.
        request.isComplete = true
        core.record(request)
        do throws(Farewell) {
            _ = try transmit(errand.behaviour.success, to: request)
            try openTunnel(errand, upstream)
        } catch {
            throw .over(error)
        }
    }

    /// Passes everything both ways from here on.
    func openTunnel(_ errand: Errand, _ upstream: Upstream) throws(Farewell) -> Never {
        let stream = stream
        if !errand.behaviour.surplus.isEmpty {
            try errand.behaviour.surplus.withBytes { bytes throws(Farewell) in try stream.send(bytes) }
        }
        let tunnel = Tunnel(
            stream,
            upstream,
            early: reader.takeUnread(),
            meter: errand.meter,
            behaviour: errand.behaviour
        )
        try tunnel.run()
    }
}
