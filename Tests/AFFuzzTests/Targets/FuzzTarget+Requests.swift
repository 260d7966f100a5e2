import AFBase
import AFNetworking
import AFNetworkingTesting
import Foundation

@testable import AFURLSession
@testable import AFURLTypes
@testable import AFWire

extension FuzzTarget {
    /// What we write of a program's words, read by a parser that does not know how it was written. The words stand
    /// between bytes 1E.
    static let requests = [requestHead, form, query]

    /// The words of a request can put no second request and no other field into it.
    private static let requestHead = FuzzTarget(
        "request-head",
        "GET\u{1E}http://a.test/x?y\u{1E}Accept\u{1E}text/*\u{1E}X-A\u{1E} b\tc ",
        "POST\u{1E}https://[::1]:8443/\u{1E}Host\u{1E}b.test\u{1E}Expect\u{1E}100-continue\u{1E}Connection\u{1E}close",
        "M-SEARCH\u{1E}http://a.test\u{1E}Content-Length\u{1E}5\u{1E}Range\u{1E}bytes=0-1\u{1E}Pragma\u{1E}x",
        "GET\u{1E}http://a.test/\u{1E}X\u{1E}a\r\nY: b\u{1E}Transfer-Encoding\u{1E}chunked"
    ) { input in
        let words = input.words
        guard words.count >= 2, let url = URL(string: words[1]) else { return }
        var request = AFURLSession.URLRequest(url: url)
        request.httpMethod = words[0]
        var names: Set<String> = ["host", "content-length", "user-agent", "accept", "accept-encoding", "connection"]
        for index in stride(from: 2, to: words.count - 1, by: 2) {
            request.addValue(words[index + 1], forHTTPHeaderField: words[index])
            names.insert(ASCII.lowered(words[index]))
        }
        guard let frozen = try? RequestFreezer.freeze(request) else { return }
        var head: [UInt8] = []
        HeadWriter.append(frozen.head, framing: frozen.body.framing, to: &head)
        // Line by line, as the simplest of all servers reads it.
        try expect(head.suffix(4).elementsEqual("\r\n\r\n".utf8), "the head has no end")
        var lines: [ArraySlice<UInt8>] = []
        for line in head.dropLast(4).split(separator: 0x0A, omittingEmptySubsequences: false) {
            lines.append(line.last == 0x0D ? line.dropLast() : line)
        }
        try expect(lines[0].count { $0 == 0x20 } == 2, "the request line is \(Array(lines[0]).text.debugDescription)")
        for line in lines.dropFirst() {
            let name = ASCII.lowered(Array(line.prefix { $0 != UInt8(ascii: ":") }).text)
            try expect(names.contains(name), "there is a field \(name.debugDescription) that the request does not set")
        }
        // And as the strictest does.
        var decoder = RequestDecoder()
        let read = head.withUnsafeBytes { try? decoder.decode($0) }
        guard let read, case .head(let received) = read.event else {
            throw Finding(description: "it is no request: \(head.text.debugDescription)")
        }
        try expect(read.consumed == head.count, "there is more than one request in \(head.text.debugDescription)")
        let method = MethodTraits.spelling(words[0])
        try expect(received.request.method == method, "the method is \(received.request.method)")
    }

    /// A reader finds the parts that were written, each with its bytes.
    private static let form = FuzzTarget(
        "form",
        "name\u{1E}value\u{1E}file\u{1E}../a\"\r\n.txt\u{1E}text/plain\u{1E}content",
        "a\u{1E}--Boundary+\r\n\r\n--\u{1E}\u{1E}\u{1E}\u{1E}\r\n"
    ) { input in
        let words = input.words
        guard words.count >= 6 else { return }
        let serializer = HTTPRequestSerializer()
        let request = try? serializer.multipartFormRequest(
            withMethod: "POST",
            urlString: "http://a.test/",
            parameters: nil
        ) { form in
            form.appendPart(withFormData: Data(words[1].utf8), name: words[0])
            form.appendPart(withFileData: Data(words[5].utf8), name: words[2], fileName: words[3], mimeType: words[4])
        }
        guard let stream = request?.httpBodyStream as? MultipartBodyStream else { return }
        let body = bytes(of: stream)
        try expect(body.count == Int(stream.contentLength), "it has \(body.count) bytes, not \(stream.contentLength)")
        let parts = body.text.components(separatedBy: "--\(stream.boundary)")
        try expect(parts.count == 4, "there are \(parts.count - 2) parts")
        for (part, content) in zip(parts.dropFirst(), [words[1], words[5]]) {
            // Characters would hide half a line break.
            let pieces = part.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            let end = pieces.dropFirst().firstIndex { $0.elementsEqual("\r".utf8) }
            guard let end else { throw Finding(description: "a part has no head") }
            let fields = pieces[1..<end].map { String($0) ?? "" }
            try expect(fields.count <= 2, "a part has fields of its own: \(fields)")
            try expect(
                fields.allSatisfy { ["Content-Disposition", "Content-Type"].contains($0.prefix { $0 != ":" }) },
                "a part has other fields: \(fields)"
            )
            let quotes = (fields.first ?? "").utf8.count { $0 == UInt8(ascii: "\"") }
            try expect(quotes == 2 || quotes == 4, "a name ends too early: \(fields)")
            let rest = Array(pieces[(end + 1)...].joined(separator: "\n".utf8))
            try expect(rest.elementsEqual(Array(content.utf8) + "\r\n".utf8), "a part is \(rest.text.debugDescription)")
        }
    }

    private static func bytes(of stream: InputStream) -> [UInt8] {
        var all: [UInt8] = []
        var page = [UInt8](repeating: 0, count: 1000)
        stream.open()
        defer { stream.close() }
        while case let count = stream.read(&page, maxLength: page.count), count > 0 { all += page[..<count] }
        return all
    }

    /// Another reader of queries finds the same names and values.
    private static let query = FuzzTarget("query", "a b\u{1E}c&d=%\u{1E}é\u{1E}\u{1F600}+\u{1E}\u{1E}\u{1E}") { input in
        var parameters: [String: String] = [:]
        let words = input.words
        for index in stride(from: 0, to: words.count - 1, by: 2) { parameters[words[index]] = words[index + 1] }
        let query = HTTPRequestSerializer.queryString(from: parameters)
        try expect(
            query.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") },
            "it breaks a URL: \(query)"
        )
        var components = URLComponents()
        components.percentEncodedQuery = query
        let found = components.queryItems ?? []
        try expect(found.count == parameters.count || parameters.isEmpty, "there are \(found.count) names in \(query)")
        for item in found {
            let value = parameters.first { $0.key.utf8.elementsEqual(item.name.utf8) }?.value
            try expect(value.map { $0.utf8.elementsEqual((item.value ?? "").utf8) } == true, "\(item) is in \(query)")
        }
    }
}

extension Array<UInt8> {
    fileprivate var words: [String] {
        split(separator: 0x1E, maxSplits: 63, omittingEmptySubsequences: false).map { Array($0).text }
    }
}
