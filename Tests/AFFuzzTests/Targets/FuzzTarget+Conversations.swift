import AFURLSession
import AFVirtualWorld
import AFWire
import Foundation

extension FuzzTarget {
    /// Whole sessions, with a stranger at the other end.
    static let conversations = [conversation, proxied]

    private static let conversation = FuzzTarget(
        "conversation",
        "k\u{0}HTTP/1.1 302 Found\r\nLocation: http://b.test/x\r\nSet-Cookie: c=1\r\nContent-Length: 0\r\n\r\n"
            + "\u{1E}k\u{0}HTTP/1.1 200 OK\r\nContent-Length: 2\r\nCache-Control: max-age=60\r\nETag: \"e\"\r\n\r\nhi",
        "k\u{3}HTTP/1.1 401 Who\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"
            + "Content-Length: 0\r\n\r\n\u{1E}c\u{9}HTTP/1.1 200 OK\r\n\r\nto the end",
        "k\u{0}HTTP/1.1 103 Early\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
            + "X: 1\r\n\r\n\u{1E}h\u{0}HTTP/1.1 304 Not Modified\r\n\r\n",
        "r\u{7}HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi\u{1E}sHTTP/1.1 307 Again\r\nLocation: ..//a\r\n\r\n",
        "k\u{0}HTTP/1.1 200 OK\r\nVary: Accept\r\nExpires: Sun, 06 Nov 2094 08:49:37 GMT\r\nContent-Encoding: gzip\r\n"
            + "Content-Length: 1\r\n\r\nx\u{1E}k\u{0}HTTP/1.1 503 No\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"
    ) { input in
        try Conversation(input).hold()
    }

    private static let proxied = FuzzTarget(
        "proxied-conversation",
        "k\u{0}HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n"
            + "\u{1E}k\u{0}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "c\u{2}HTTP/1.1 302 Found\r\nLocation: https://b.test/\r\nContent-Length: 0\r\n\r\n\u{1E}k\u{0}HTTP/1.1 200 OK\r\n\r\n"
    ) { input in
        try Conversation(input, throughProxy: true).hold()
    }
}

/// Three requests of one session to servers that say what the input says, in its order, whatever they are asked.
///
/// The input is cut at each byte 1E; a piece begins with how the connection goes on behind it (`c` closes it, `r`
/// resets it, `h` closes one half, `s` stops reading, all else keeps it) and the size in which its bytes come. What must hold: each task ends once, nothing is
/// left, and what is meant for one host alone is told to no other.
private final class Conversation {
    private static let secret = "canary"
    private static let body = "sent body"

    private let world = VirtualWorld()
    private var answers: ArraySlice<ArraySlice<UInt8>>
    private let throughProxy: Bool
    private var heard: [String: [UInt8]] = [:]

    init(_ input: [UInt8], throughProxy: Bool = false) {
        answers = input.split(separator: 0x1E, maxSplits: 15, omittingEmptySubsequences: false)[...]
        self.throughProxy = throughProxy
    }

    func hold() throws {
        world.hasVirtualDate = true
        for host in throughProxy ? ["proxy.test"] : ["a.test", "b.test"] { serve(host) }
        world.configure { configuration in
            configuration.timeoutIntervalForRequest = 30
            configuration.timeoutIntervalForResource = 300
            if self.throughProxy {
                configuration.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "proxy.test", "HTTPPort": 80,
                ]
            }
        }
        var tasks: [TaskEvents] = []
        tasks.append(world.send("GET", "http://a.test/1?q", fields: ["Authorization": "Bearer \(Self.secret)"]))
        world.run()
        tasks.append(world.send("POST", "http://a.test/2", body: Data(Self.body.utf8)))
        world.run()
        tasks.append(world.get("http://a.test/1?q"))
        world.run()
        try check(tasks)
    }

    private func serve(_ host: String) {
        world.serve(host) { [unowned self] in
            HTTPResponder { [unowned self] request, moment, client in
                heard[host, default: []] += request.headers.withBytes { Array($0) }
                if case .complete = moment { answer(client) }
            }
        }
    }

    private func answer(_ client: ServerEnd) {
        guard let answer = answers.popFirst(), let end = answer.first else { return client.close() }
        let size = Int(answer.dropFirst().first ?? 0)
        var rest = answer.dropFirst(2)
        while size > 0, rest.count > size, rest.count < 32 * size {
            client.send(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        if !rest.isEmpty { client.send(Array(rest)) }
        switch end {
        case UInt8(ascii: "c"): client.close()
        case UInt8(ascii: "h"): client.halfClose()
        case UInt8(ascii: "r"): client.reset()
        case UInt8(ascii: "s"): client.stopReading()
        default: break
        }
    }

    private func check(_ tasks: [TaskEvents]) throws {
        for (number, task) in tasks.enumerated() {
            try FuzzTarget.expect(
                task.record.completions == 1,
                "request \(number) has ended \(task.record.completions) times: \(task.all)"
            )
        }
        let told = String(decoding: heard["b.test"] ?? [], as: UTF8.self)
        try FuzzTarget.expect(!told.contains(Self.secret), "b.test was told what is for a.test")
        let left = world.finish()
        try FuzzTarget.expect(left.isEmpty, left.joined(separator: ", "))
    }
}
