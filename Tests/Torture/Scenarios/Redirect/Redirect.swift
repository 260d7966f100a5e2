import AFNetworking
import AFNetworkingTesting
import AFTorture
import Foundation

extension Scenario {
    /// Requests that are sent elsewhere.
    static let redirect = redirectsFollowed + redirectsJudged

    private static func redirect(_ status: Int, to location: String) -> ServerReply {
        ServerReply.text("elsewhere").status(status).header("Location", location)
    }

    private static func post(_ url: URL, _ text: String) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.httpBody = Data(text.utf8)
        return request
    }

    private static let redirectsFollowed: [Scenario] = [
        Scenario(.redirect, "chain") { stage in
            let server = try stage.server { server in
                server.route("GET", "/1", redirect(302, to: "/2"))
                server.route("GET", "/2", redirect(301, to: "3?a=b"))
                server.route("GET", "/3", .text("there"))
            }
            let session = stage.session(again: server.url("/again"))
            await stage.load(server.url("/1"), in: session, expecting: "there")
        },
        Scenario(.redirect, "body-again") { stage in
            let server = try stage.server { server in
                server.route("POST", "/1", redirect(307, to: "/2"))
                server.route("POST", "/2") { .data($0.body) }
            }
            let session = stage.session(again: server.url("/again"))
            let text = String(repeating: "0123456789", count: 300)
            await stage.load(post(server.url("/1"), text), in: session, expecting: text)
        },
        Scenario(.redirect, "see-other") { stage in
            let server = try stage.server { server in
                server.route("POST", "/1", redirect(303, to: "/2"))
                server.route("GET", "/2") { .text("\($0.method) \($0.bodyByteCount)") }
            }
            let session = stage.session(again: server.url("/again"))
            await stage.load(post(server.url("/1"), "a body"), in: session, expecting: "GET 0")
        },
        Scenario(.redirect, "other-server") { stage in
            let other = try stage.server { $0.route("GET", "/there") { .text($0.headers["Authorization"] ?? "none") } }
            let there = other.url("/there").absoluteString
            let server = try stage.server { $0.route("GET", "/1", redirect(302, to: there)) }
            let session = stage.session(again: server.url("/again"))
            var request = URLRequest(url: server.url("/1"))
            request.setValue("Bearer \(stage.secret("token", for: server))", forHTTPHeaderField: "Authorization")
            await stage.load(request, in: session, expecting: "none")
        },
        Scenario(.redirect, "to-tls") { stage in
            let other = try stage.securedServer({ _ in }) { $0.route("GET", "/there", .text("there")) }
            let there = other.url("/there").absoluteString
            let server = try stage.server { $0.route("GET", "/1", redirect(301, to: there)) }
            let tls = try Stage.trust
            let session = stage.session(again: server.url("/again")) { $0.tls = tls }
            await stage.load(server.url("/1"), in: session, expecting: "there")
        },
        Scenario(.redirect, "closing") { stage in
            let server = try stage.server { server in
                server.route("GET", "/1", redirect(302, to: "/2").keepAlive(false))
                server.route("GET", "/2", .text("there"))
            }
            let session = stage.session(again: server.url("/again"))
            await stage.load(server.url("/1"), in: session, expecting: "there")
        },
        Scenario(.redirect, "events") { stage in
            let server = try stage.server { server in
                server.route("GET", "/1", redirect(302, to: "/2"))
                server.route("GET", "/2", ServerReply.text("there").chunked(2))
            }
            let book = stage.eventBook(redirect: { _, request in request })
            let session = stage.session(again: server.url("/again"), delegate: book)
            await stage.step("redirect") {
                let data = try await book.outcome(of: session.dataTask(with: server.url("/1")), on: stage)
                stage.demand(data == Data("there".utf8), "\(data.count) bytes that are not there")
            }
        },
    ]

    private static let redirectsJudged: [Scenario] = [
        Scenario(.redirect, "not-followed") { stage in
            let server = try stage.server { $0.route("GET", "/1", redirect(302, to: "/2")) }
            let book = stage.eventBook(redirect: { _, _ in nil })
            let session = stage.session(again: server.url("/again"), delegate: book)
            await stage.load(server.url("/1"), in: session, status: 302, expecting: "elsewhere")
        },
        Scenario(.redirect, "changed") { stage in
            let other = try stage.server { $0.route("GET", "/there", .text("there")) }
            let server = try stage.server { $0.route("GET", "/1", redirect(302, to: "/2")) }
            let there = other.url("/there")
            let book = stage.eventBook(redirect: { _, _ in URLRequest(url: there) })
            let session = stage.session(again: server.url("/again"), delegate: book)
            await stage.load(server.url("/1"), in: session, expecting: "there")
        },
        Scenario(.redirect, "loop") { stage in
            let server = try stage.server { $0.route("GET", "/loop", redirect(302, to: "/loop")) }
            let session = stage.session(again: server.url("/again"))
            await stage.refusal("a loop", codes: [-1007]) { try await session.data(from: server.url("/loop")) }
        },
    ]
}
