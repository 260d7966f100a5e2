import AFURLSession
import Foundation
import Testing

extension HttpbinTests {
    struct Bodies {
        let session = URLSession.fresh()

        /// No two pieces of it are alike, and it is no text.
        private static func bytes(_ count: Int) -> Data {
            var state: UInt64 = 88_172_645_463_325_252
            var data = Data(capacity: count + 8)
            while data.count < count {
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                withUnsafeBytes(of: state) { data.append(contentsOf: $0) }
            }
            return data.prefix(count)
        }

        @Test(arguments: ["PUT", "POST", "PATCH"], [0, 1, 65_537, 3 << 20])
        func `a body comes back byte for byte`(method: String, count: Int) async throws {
            let body = Self.bytes(count)

            let answer = try await session.get("/\(method.lowercased())", from: .httpbin) {
                $0.httpMethod = method
                $0.httpBody = body
                $0.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            }

            let isSame = try answer.echoed == body
            #expect(isSame)
            #expect(try answer.sentFields["Content-Length"] == "\(count)")
        }

        @Test func `a file, and a stream in chunks, come back byte for byte`() async throws {
            let body = Self.bytes(2_000_003)
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("af-\(UUID().uuidString)")
            try body.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            var request = URLRequest(url: try Server.httpbin.url("/put"))
            request.httpMethod = "PUT"

            let fromFile = try Answer(await session.upload(for: request, fromFile: file))
            request.httpBodyStream = InputStream(data: body)
            let streamed = try Answer(await session.data(for: request))

            #expect(try fromFile.echoed == body && streamed.echoed == body)
            #expect(try streamed.sentFields["Transfer-Encoding"] == "chunked")
        }

        @Test func `a form`() async throws {
            let answer = try await session.get("/post", from: .httpbin) {
                $0.httpMethod = "POST"
                $0.httpBody = Data("a=1&b=%C3%BC".utf8)
                $0.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            }

            #expect(try answer.json["form"] as? [String: String] == ["a": "1", "b": "ü"])
        }

        // MARK: Responses

        @Test(arguments: [("/gzip", "gzipped"), ("/deflate", "deflated")])
        func `a coded body is decoded`(path: String, word: String) async throws {
            let answer = try await session.get(path, from: .httpbin)

            #expect(try answer.json[word] as? Bool == true)
        }

        @Test func `brotli is decoded where it is built in, and left alone where it is not`() async throws {
            let answer = try await session.get("/brotli", from: .httpbin)

            #expect(answer.field("Content-Encoding") == "br")
            #if Brotli
                #expect(try answer.json["brotli"] as? Bool == true)
            #else
                #expect((try? JSONSerialization.jsonObject(with: answer.body)) == nil)
            #endif
        }

        @Test func `text is left as it is`() async throws {
            let answer = try await session.get("/encoding/utf8", from: .httpbin)

            #expect(answer.text.contains("STARGΛ̊TE") && answer.field("Content-Type") == "text/html; charset=utf-8")
        }

        @Test(arguments: [(0, 0), (10, 99), (1000, nil)] as [(Int64, Int64?)])
        func `a range`(first: Int64, last: Int64?) async throws {
            let whole = try await session.get("/range/1024", from: .httpbin)
            var request = URLRequest(url: try Server.httpbin.url("/range/1024"))
            try request.setByteRange(from: first, through: last)

            let part = try Answer(await session.data(for: request))

            #expect(part.status == 206)
            #expect(part.body == whole.body[Int(first)...Int(last ?? 1023)])
            #expect(part.field("Content-Range") == "bytes \(first)-\(last ?? 1023)/1024")
        }

        @Test func `a range beyond the end is 416`() async throws {
            let answer = try await session.get("/range/1024", from: .httpbin) {
                $0.setValue("bytes=2000-", forHTTPHeaderField: "Range")
            }

            #expect(answer.status == 416)
        }

        @Test func `lines arrive one by one`() async throws {
            let (bytes, response) = try await session.bytes(from: Server.httpbin.url("/stream/20"))
            var numbers: [Int] = []

            for try await line in bytes.lines {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                numbers.append(try #require(object?["id"] as? Int))
            }

            #expect((response as? HTTPURLResponse)?.statusCode == 200 && numbers == Array(0..<20))
        }

        @Test func `a body in chunks arrives whole`() async throws {
            let one = try await session.get("/stream-bytes/100000?seed=7&chunk_size=1000", from: .httpbin)
            let other = try await session.get("/stream-bytes/100000?seed=7&chunk_size=9999", from: .httpbin)

            #expect(one.body.count == 100_000 && one.body == other.body)
        }

        @Test func `a body that drips is waited for`() async throws {
            let answer = try await session.get("/drip?numbytes=5&duration=1&delay=0", from: .httpbin)

            #expect(answer.body == Data("*****".utf8))
        }

        @Test func `patience ends when it was said to`() async throws {
            let session = URLSession.fresh { $0.timeoutIntervalForRequest = 0.3 }

            let error = await #expect(throws: URLError.self) { _ = try await session.get("/delay/2", from: .httpbin) }

            #expect(error?.code == .timedOut)
        }
    }

    struct Caching {
        private func load(_ path: String, _ session: URLSession) async throws -> (Answer, MetricsKeeper) {
            let keeper = MetricsKeeper()
            return (try Answer(await session.data(from: Server.httpbin.url(path), delegate: keeper)), keeper)
        }

        @Test func `what is fresh is not asked for again`() async throws {
            let session = URLSession.fresh()

            let (first, before) = try await load("/cache/60", session)
            let (second, after) = try await load("/cache/60", session)

            #expect(before.source == .networkLoad && after.source == .localCache)
            #expect(first.body == second.body && second.status == 200)
        }

        @Test func `what may have changed is asked about`() async throws {
            let session = URLSession.fresh()

            let (first, _) = try await load("/cache", session)
            let (second, after) = try await load("/cache", session)

            #expect(first.body == second.body && second.status == 200)
            // Once over the network, for the word that nothing has changed.
            #expect(after.transactions.contains { $0.resourceFetchType == .networkLoad })
            #expect(after.transactions.allSatisfy { $0.countOfResponseBodyBytesReceived == 0 })
        }

        @Test func `a condition of one's own is answered to oneself`() async throws {
            let answer = try await URLSession.fresh().get("/etag/mine", from: .httpbin) {
                $0.setValue("\"mine\"", forHTTPHeaderField: "If-None-Match")
            }

            #expect(answer.status == 304 && answer.body.isEmpty)
        }
    }
}
