import Foundation
import Testing

/// Runs the code of the article about parameters and forms.
@Suite struct FormsArticleTests {
    @Test func `the requests of the article are as it says`() throws {
        let serializer = HTTPRequestSerializer()
        serializer.setValue("application/json", forHTTPHeaderField: "Accept")
        serializer.timeoutInterval = 20

        let list = try serializer.request(
            withMethod: "GET",
            urlString: "https://api.example.com/items",
            parameters: ["tags": ["a", "b"], "page": 2, "exact": true]
        )

        #expect(list.url?.absoluteString == "https://api.example.com/items?exact=1&page=2&tags%5B%5D=a&tags%5B%5D=b")
        #expect(list.value(forHTTPHeaderField: "Accept") == "application/json")
        serializer.setQueryStringSerialization { _, parameters in
            guard let pairs = parameters as? [String: String] else { throw URLError(.badURL) }
            return pairs.sorted { $0.key < $1.key }
                .map { "\($0.key)=\(HTTPRequestSerializer.percentEscapedString(from: $0.value))" }
                .joined(separator: ";")
        }
        #expect(try serializer.get(["b": "2", "a": "1"]).url?.query == "a=1;b=2")
        #expect(throws: URLError.self) { try serializer.get(["a": 1]) }
    }

    @Test func `the value of the article is JSON`() throws {
        struct Search: Encodable {
            var text: String
            var page: Int
        }

        let json = EncodableRequestSerializer()
        let search = try json.request(
            withMethod: "POST",
            urlString: "https://api.example.com/search",
            parameters: Search(text: "swift", page: 2)
        )

        let body = try #require(search.httpBody)
        let read = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
        #expect(read["text"] as? String == "swift" && read["page"] as? Int == 2)
    }

    @Test func `the form of the article has its parts`() throws {
        let folder = try ScratchFolder()
        try folder.write("sunset.jpg", [1, 2, 3])
        let photo = folder.url.appendingPathComponent("sunset.jpg")
        let thumbnail = Data([4])
        let serializer = HTTPRequestSerializer()

        let upload = try serializer.multipartFormRequest(
            withMethod: "POST",
            urlString: "https://api.example.com/photos",
            parameters: ["title": "Sunset"]
        ) { form in
            try form.appendPart(withFileURL: photo, name: "photo")
            form.appendPart(withFileData: thumbnail, name: "thumbnail", fileName: "small.png", mimeType: "image/png")
        }

        for text in ["name=\"title\"", "filename=\"sunset.jpg\"", "image/jpeg", "filename=\"small.png\"", "image/png"] {
            #expect(upload.formText.contains(text))
        }
    }

    /// Returns new streams as the article shows; `MultipartUploadTests` uses such a delegate.
    private final class Delegate: URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
        ) {
            let stream = task.originalRequest?.httpBodyStream as? any NSCopying
            completionHandler(stream?.copy(with: nil) as? InputStream)
        }
    }
}
