import AFBase
import AFLoop
import AFNetworking
import AFNetworkingTesting
import AFTorture
import AFTransport
import Foundation

extension Scenario {
    /// Bodies that are sent.
    static let upload =
        Uploads.plain + Uploads.streamed + Uploads.coded + Uploads.expecting + Uploads.replayed + Uploads.managed
}

private enum Uploads {
    private static let size = 90_000
    private static let body = Data.pattern(size)

    /// A server that says how long the bodies are that it has got.
    private static func server(on stage: Stage) throws -> TestServer {
        try stage.server { server in
            server.route("*", "/store") { .text("\($0.bodyByteCount)") }
            server.route("*", "/moved", ServerReply(status: 307).header("Location", "/store"))
        }
    }

    static let plain: [Scenario] = [
        Scenario(.upload, "bytes-to-a-handler") { stage in
            let server = try server(on: stage)
            let session = stage.session(again: server.url("/again"))
            await stage.step("upload") {
                let completion = stage.completion(of: "upload", as: Result<Loaded, any Error>.self)
                let request = URLRequest("POST", server.url("/store"))
                session.uploadTask(with: request, from: body) { completion.call(Loaded.result($0, $1, $2)) }.resume()
                stage.demand(try await completion.value().get().text == "\(size)", "another length")
            }
            stage.demandBodies(body, at: "/store", of: server)
        },
        Scenario(.upload, "file-awaited") { stage in
            let server = try server(on: stage)
            let session = stage.session(again: server.url("/again"))
            let file = try stage.file("body", holding: body)
            await stage.step("upload") {
                let request = URLRequest("POST", server.url("/store"))
                let (data, _) = try await session.upload(for: request, fromFile: file)
                stage.demand(data == Data("\(size)".utf8), "another length")
            }
            stage.demandBodies(body, at: "/store", of: server)
        },
        Scenario(.upload, "empty-file") { stage in
            let server = try server(on: stage)
            let session = stage.session(again: server.url("/again"))
            let file = try stage.file("body")
            await stage.step("upload") {
                let request = URLRequest("POST", server.url("/store"))
                let (data, _) = try await session.upload(for: request, fromFile: file)
                stage.demand(data == Data("0".utf8), "another length")
            }
            stage.demandBodies(Data(), at: "/store", of: server)
        },
    ]

    // MARK: - From streams

    static let streamed: [Scenario] = [
        Scenario(.upload, "stream-in-chunks") { stage in
            let server = try server(on: stage)
            let book = stage.transferBook { InputStream(data: body) }
            let session = stage.session(again: server.url("/again"), delegate: book)
            await stage.step("upload") {
                let task = session.uploadTask(withStreamedRequest: URLRequest("POST", server.url("/store")))
                let data = try await book.outcome(of: task, on: stage)
                stage.demand(data == Data("\(size)".utf8), "another length")
            }
            stage.demandBodies(body, at: "/store", of: server)
        },
        Scenario(.upload, "file-stream-of-known-length") { stage in
            let server = try server(on: stage)
            let file = try stage.file("body", holding: body)
            let session = stage.session(again: server.url("/again"))
            var request = URLRequest("POST", server.url("/store"), ["Content-Length": "\(size)"])
            request.httpBodyStream = InputStream(url: file)
            await stage.load(request, in: session, expecting: "\(size)")
            stage.demandBodies(body, at: "/store", of: server)
        },
    ]

    // MARK: - Coded, and with trailer fields

    static let coded: [Scenario] = [
        Scenario(.upload, "coded-bytes-with-a-trailer") { stage in
            let server = try server(on: stage)
            let session = stage.session(again: server.url("/again"))
            var request = URLRequest("POST", server.url("/store"), body: body)
            request.bodyCoding = .gzip
            await stage.load(request, in: session)
            request.trailers = RequestTrailers("X-Sum") { ["X-Sum": "9"] }
            await stage.load(request, in: session)
            demandCoded(body, of: server, on: stage)
            let trailers = server.requests.filter(\.isComplete).dropFirst().map { $0.trailers["X-Sum"] }
            stage.demand(trailers.allSatisfy { $0 == "9" }, "a body without its trailer")
        },
        Scenario(.upload, "coded-file-refused") { stage in
            let server = try stage.server { server in
                server.route("POST", "/store") { request in
                    guard request.headers["Content-Encoding"] != nil else { return .text("\(request.bodyByteCount)") }
                    return ServerReply.text("no").status(415).header("Accept-Encoding", "identity")
                }
            }
            let file = try stage.file("body", holding: body)
            let session = stage.session(again: server.url("/again"))
            await stage.step("upload") {
                var request = URLRequest("POST", server.url("/store"))
                request.bodyCoding = .gzip
                let (data, _) = try await session.upload(for: request, fromFile: file)
                stage.demand(data == Data("\(size)".utf8), "another length")
            }
            demandCoded(body, of: server, on: stage)
        },
    ]

    /// Each body that came whole has this content, in a coding or not.
    private static func demandCoded(_ content: Data, of server: TestServer, on stage: Stage) {
        for request in server.requests where request.isComplete && request.path == "/store" {
            let isCoded = request.headers["Content-Encoding"] != nil
            let found: Data? = isCoded ? stage.spare { decoded(request.body) } : request.body
            stage.demand(found == content, "\(request.bodyByteCount) bytes that are not the \(content.count)")
        }
    }

    private static func decoded(_ coded: Data) -> Data? {
        guard let decoder = try? ContentDecoder(codings: [.gzip], limits: ContentDecoder.Limits(ratio: 250)) else {
            return nil
        }
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: ContentDecoder.pieceSize, alignment: 64)
        defer { page.deallocate() }
        return coded.withUnsafeBytes { bytes -> Data? in
            var (input, content, work) = (bytes, Data(), Int.max)
            while let step = try? decoder.step(&input, into: page, work: &work) {
                guard case .piece(let count) = step else { break }
                content.append(contentsOf: page.prefix(count))
            }
            return (try? decoder.finish()) == nil ? nil : content
        }
    }

    // MARK: - Asking first

    private static let asking = ["Expect": "100-continue"]

    static let expecting: [Scenario] = [
        Scenario(.upload, "after-a-100") { stage in
            let server = try server(on: stage)
            let session = stage.session(again: server.url("/again"))
            let request = URLRequest("POST", server.url("/store"), asking, body: body)
            await stage.load(request, in: session, expecting: "\(size)")
            stage.demandBodies(body, at: "/store", of: server)
        },
        Scenario(.upload, "refused-before-the-body") { stage in
            let server = try stage.server {
                $0.route("POST", "/store", ServerReply.text("too long").status(413).withoutReadingBody())
            }
            let session = stage.session(again: server.url("/again"))
            let request = URLRequest("POST", server.url("/store"), asking, body: body)
            await stage.load(request, in: session, status: 413, expecting: "too long")
            stage.demand(server.requests.allSatisfy { $0.bodyByteCount == 0 }, "a body that the server did not want")
        },
        Scenario(.upload, "again-after-a-417") { stage in
            let server = try stage.server { server in
                server.route("POST", "/store", answering: .head) { request in
                    guard request.headers["Expect"] == nil else {
                        return ServerReply(status: 417).withoutReadingBody()
                    }
                    return .text("taken")
                }
            }
            let session = stage.session(again: server.url("/again"))
            let request = URLRequest("POST", server.url("/store"), asking, body: body)
            await stage.load(request, in: session, expecting: "taken")
            stage.demand(
                server.requests.allSatisfy { !$0.isComplete || $0.bodyByteCount == 0 || $0.body == body },
                "another body"
            )
        },
    ]

    // MARK: - Sent again

    static let replayed: [Scenario] = [
        Scenario(.upload, "bytes-again-after-307") { stage in
            let server = try server(on: stage)
            let session = stage.session(again: server.url("/again"))
            let request = URLRequest("POST", server.url("/moved"), body: body)
            await stage.load(request, in: session, expecting: "\(size)")
            stage.demandBodies(body, at: "/moved", of: server)
            stage.demandBodies(body, at: "/store", of: server)
        },
        Scenario(.upload, "file-again-after-307") { stage in
            let server = try server(on: stage)
            let file = try stage.file("body", holding: body)
            let book = stage.transferBook()
            let session = stage.session(again: server.url("/again"), delegate: book)
            await stage.step("upload") {
                let task = session.uploadTask(with: URLRequest("POST", server.url("/moved")), fromFile: file)
                let data = try await book.outcome(of: task, on: stage)
                stage.demand(data == Data("\(size)".utf8), "another length")
            }
            stage.demandBodies(body, at: "/moved", of: server)
            stage.demandBodies(body, at: "/store", of: server)
        },
        Scenario(.upload, "stream-again-after-307") { stage in
            let server = try server(on: stage)
            let book = stage.transferBook { InputStream(data: body) }
            let session = stage.session(again: server.url("/again"), delegate: book)
            await stage.step("upload") {
                let task = session.uploadTask(withStreamedRequest: URLRequest("POST", server.url("/moved")))
                let data = try await book.outcome(of: task, on: stage)
                stage.demand(data == Data("\(size)".utf8), "another length")
            }
            stage.demandBodies(body, at: "/moved", of: server)
            stage.demandBodies(body, at: "/store", of: server)
        },
    ]

    // MARK: - By managers

    static let managed: [Scenario] = [
        Scenario(.upload, "form-with-files") { stage in
            let server = try stage.server { $0.route("POST", "/form", .json("{}")) }
            let manager = stage.manager(at: server.url("/"), again: server.url("/again"))
            let photo = try stage.file("photo.jpg", holding: body)
            await stage.call("form") { () async throws(RequestFailure) in
                try await manager.post("form", parameters: ["title": "Sunset"]) { form in
                    try? form.appendPart(withFileURL: photo, name: "photo")
                    form.appendPart(withForm: Data("last".utf8), name: "end")
                }
            }
            let forms = server.requests.filter { $0.path == "/form" && $0.isComplete }
            stage.demand(forms.count <= 1, "\(forms.count) forms")
            for form in forms { demandForm(form.body, holding: body, on: stage) }
        },
        Scenario(.upload, "form-by-way-of-a-file") { stage in
            let server = try stage.server { $0.route("POST", "/form", .json("{}")) }
            let manager = stage.manager(at: server.url("/"), again: server.url("/again"))
            let photo = try stage.file("photo.jpg", holding: body)
            let spool = stage.folder.appending(path: "form")
            let form = try manager.requestSerializer.multipartFormRequest(
                withMethod: "POST",
                urlString: server.url("/form").absoluteString,
                parameters: ["title": "Sunset"]
            ) { form in
                try form.appendPart(withFileURL: photo, name: "photo")
                form.appendPart(withForm: Data("last".utf8), name: "end")
            }
            await stage.step("form") {
                let request = try await manager.requestSerializer.request(
                    withMultipartForm: form,
                    writingStreamContentsToFile: spool
                )
                demandForm(try Data(contentsOf: spool), holding: body, on: stage)
                _ = try await manager.session.upload(for: request, fromFile: spool)
            }
            for form in server.requests where form.isComplete && form.path == "/form" {
                demandForm(form.body, holding: body, on: stage)
            }
        },
        Scenario(.upload, "json-posted") { stage in
            let server = try stage.server { server in
                server.route("POST", "/notes") { .json("{\"length\": \($0.bodyByteCount)}") }
            }
            let manager = stage.manager(at: server.url("/"), again: server.url("/again"))
            manager.requestSerializer = JSONRequestSerializer()
            let text = String(repeating: "note ", count: 4000)
            let told = Lock(Int64(0))
            await stage.call("post") { () async throws(RequestFailure) in
                let answer = try await manager.post("notes", parameters: ["text": text]) { progress in
                    told.withLock { $0 = max($0, progress.completedUnitCount) }
                }
                let length = (answer.object as? [String: Any])?["length"] as? Int
                stage.demand(length ?? 0 > text.utf8.count, "\(length ?? 0) bytes")
            }
            let bodies = server.requests.filter { $0.path == "/notes" && $0.isComplete }.map(\.body)
            stage.demand(bodies.count <= 1, "\(bodies.count) notes")
            for body in bodies {
                let note = try? JSONDecoder().decode([String: String].self, from: body)
                stage.demand(note == ["text": text], "another note")
            }
            stage.demand(told.withLock { $0 } <= Int64(text.utf8.count + 11), "more sent than there is")
        },
    ]

    /// A form has all parts, whole and in order.
    private static func demandForm(_ form: Data, holding file: Data, on stage: Stage) {
        guard let start = form.range(of: file) else { return stage.find("a form without its file") }
        let before = String(decoding: form[..<start.lowerBound], as: UTF8.self)
        let after = String(decoding: form[start.upperBound...], as: UTF8.self)
        let boundary = before.prefix { $0 != "\r\n" }
        stage.demand(before.contains("name=\"title\"") && before.contains("Sunset"), "a form without its field")
        stage.demand(before.contains("filename=\"photo.jpg\""), "a file without its name")
        stage.demand(after.contains("last") && after.hasSuffix("\(boundary)--\r\n"), "a form without its end")
    }
}
