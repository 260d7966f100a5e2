import AFNetworking
import AFNetworkingXML
import Foundation
import FoundationXML
import Testing

private let companyKey: PublicKeyPin? = nil

class CompanyPolicy: SecurityPolicy, @unchecked Sendable {
    override func evaluateServerTrust(_ serverTrust: ServerTrust, forDomain domain: String?) -> Bool {
        guard super.evaluateServerTrust(serverTrust, forDomain: domain) else { return false }
        return serverTrust.evaluation.chain.last?.pin == companyKey
    }
}

/// What doc comments of `AFNetworking` and `AFNetworkingXML` show. Compiled, and not run.
private enum NetworkingComments {
    static func policy(_ configuration: URLSessionConfiguration) throws {
        let policy = try SecurityPolicy(pinningMode: .publicKey, certificatesAtPath: "/etc/my-app/api.pem")
        configuration.tls.evaluator = policy
    }

    static func pages(_ manager: HTTPSessionManager) async throws {
        typealias Item = Int
        func add(_ items: [Item]) {}
        for try await items in try manager.pages("items", decode: [Item].self) { add(items) }
    }

    static func compound() {
        let serializer = CompoundResponseSerializer(
            responseSerializers: [JSONResponseSerializer(), PropertyListResponseSerializer()]
        )
        _ = serializer
    }

    static func decodable(_ response: URLResponse, _ data: Data) throws {
        struct User: Decodable { var name: String }

        let serializer = DecodingResponseSerializer(User.self)
        let user = try serializer.value(for: response, data: data)
        _ = user
    }

    static func results(_ serializer: JSONResponseSerializer, _ response: URLResponse, _ data: Data) {
        let (object, error) = serializer.serialize(response, data: data)
        _ = (object, error)
    }

    static func reachability(_ queue: DispatchQueue) {
        let manager = NetworkReachabilityManager.manager(forDomain: "api.example.com")
        manager.setReachabilityStatusChange { status in
            status.isReachable ? queue.resume() : queue.suspend()
        }
        manager.startMonitoring()
    }

    static func operation(_ url: URL, _ queue: OperationQueue) {
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.responseSerializer = JSONResponseSerializer()
        operation.setCompletionBlock { operation, object in
            print(object ?? "nothing")
        } failure: { operation, error in
            print(error)
        }
        queue.addOperation(operation)
    }

    static func operationManager() {
        let manager = HTTPRequestOperationManager(baseURL: URL(string: "https://api.example.com/v1/"))
        manager.get("users/1", parameters: nil) { operation, object in
            print(object ?? "nothing")
        } failure: { operation, error in
            print(error)
        }
    }

    static func batch(_ operations: [URLConnectionOperation], _ queue: OperationQueue) {
        let batch = URLConnectionOperation.batchOfRequestOperations(operations) { finished, total in
            print("\(finished) of \(total)")
        } completionBlock: { operations in
            print("all done")
        }
        queue.addOperations(batch, waitUntilFinished: false)
    }

    static func connectionOperation(_ url: URL, _ queue: OperationQueue) {
        let operation = URLConnectionOperation(request: URLRequest(url: url))
        operation.completionBlock = { print(operation.responseString ?? "nothing") }
        queue.addOperation(operation)
    }

    static func manager() async throws {
        let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1/"))
        let user = try await manager.get("users/1", decode: User.self)
        _ = user
    }

    static func sessionManager(_ request: URLRequest) {
        let manager = URLSessionManager()
        let task = manager.dataTask(with: request) { response, object, error in
            print(object ?? "nothing", error ?? "fine")
        }
        task.resume()
    }

    static func encodable() throws {
        struct Search: Encodable {
            var text: String
            var page: Int
        }
        let serializer = EncodableRequestSerializer(encoder: JSONEncoder())
        let request = try serializer.request(
            withMethod: "GET",
            urlString: "https://api.example.com/items",
            parameters: Search(text: "swift", page: 2)
        )
        #expect(request.url?.query == "page=2&text=swift")
    }

    static func serializer() throws {
        let serializer = HTTPRequestSerializer()
        serializer.setValue("application/json", forHTTPHeaderField: "Accept")
        let request = try serializer.request(
            withMethod: "GET",
            urlString: "https://api.example.com/items",
            parameters: ["page": 2, "tags": ["a", "b"]]
        )
        #expect(request.url?.query == "page=2&tags%5B%5D=a&tags%5B%5D=b")
    }

    static func form(_ serializer: HTTPRequestSerializer, _ photo: URL) throws {
        let request = try serializer.multipartFormRequest(
            withMethod: "POST",
            urlString: "https://api.example.com/photos",
            parameters: ["title": "Sunset"]
        ) { form in
            try form.appendPart(withFileURL: photo, name: "photo")
        }
        _ = request
    }

    static func query() {
        let query = HTTPRequestSerializer.queryString(from: ["name": "Ada", "langs": ["en", "fr"], "at": ["x": 1]])
        #expect(query == "at%5Bx%5D=1&langs%5B%5D=en&langs%5B%5D=fr&name=Ada")
    }
}

private struct User: Decodable {
    let name: String
}

private final class MySerializer: HTTPResponseSerializer, @unchecked Sendable {
    var key = ""

    override func copy(with zone: NSZone? = nil) -> Any {
        let copy = super.copy(with: zone)
        (copy as? MySerializer)?.key = key
        return copy
    }
}

private struct CBORDecoder: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value { throw URLError(.unknown) }
}

extension CBORDecoder: BodyDecoder {
    var acceptableContentTypes: Set<String>? { ["application/cbor"] }
}

private final class Feed: NSObject, XMLParserDelegate {
    func read(_ response: URLResponse, _ data: Data, by serializer: XMLParserResponseSerializer) {
        let parser = serializer.serialize(response, data: data).object as? XMLParser
        parser?.delegate = self
        let isWellFormed = parser?.parse()

        print(isWellFormed ?? false)
    }
}

private func trust(_ operation: URLConnectionOperation) throws {
    var tls = TLSConfiguration()
    tls.anchors = try .file("/etc/my-company/root.pem")
    operation.tls = tls
}
