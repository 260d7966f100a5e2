import AFNetworking
import Foundation

/// The verbs, each with its result in the page.
@MainActor final class ListPage {
    var items: [[String: Any]] = []
    var user: [String: Any] = [:]
    var errorText: String?
    var isLoading = false
    var percent = 0
    var reloads = 0
    let manager = AFHTTPSessionManager(baseURL: URL(string: "http://127.0.0.1/"))

    func reloadData() { reloads += 1 }

    func get(_ path: String) {
        isLoading = true
        manager.get(
            path,
            parameters: ["page": 2],
            headers: nil,
            progress: nil,
            success: { task, responseObject in
                self.isLoading = false
                self.user = responseObject as? [String: Any] ?? [:]
                self.reloadData()
            },
            failure: { task, error in
                self.isLoading = false
                self.errorText = error.localizedDescription
            }
        )
    }

    func getWeakly(_ path: String) {
        manager.get(path, parameters: nil, headers: nil, progress: nil) { [weak self] (task, responseObject) in
            guard let self = self else { return }
            self.items = responseObject as? [[String: Any]] ?? []
            self.reloadData()
        } failure: { [weak self] (task, error) in
            self?.errorText = error.localizedDescription
        }
    }

    func post(_ path: String, completion: @escaping (Bool) -> Void) {
        manager.post(path, parameters: ["foo": "bar"], headers: nil, progress: nil) { task, responseObject in
            self.reloadData()
            completion(true)
        } failure: { task, error in
            completion(false)
        }
    }

    func postForm(_ path: String, picture: Data) {
        manager.post(
            path,
            parameters: ["name": "me"],
            headers: nil,
            constructingBodyWith: { formData in
                formData.appendPart(withFileData: picture, name: "picture", fileName: "a.png", mimeType: "image/png")
            },
            progress: { progress in
                DispatchQueue.main.async { self.percent = Int(progress.fractionCompleted * 100) }
            },
            success: { task, responseObject in
                self.percent = 100
            },
            failure: { task, error in
                self.errorText = "\(error)"
            }
        )
    }

    func others(_ path: String) {
        manager.head(path, parameters: nil, headers: nil, success: { task in self.reloadData() }, failure: nil)
        manager.put(path, parameters: nil, headers: nil, success: { _, _ in self.reloadData() }, failure: nil)
        manager.patch(path, parameters: nil, headers: nil, success: { _, _ in self.reloadData() }, failure: nil)
        manager.delete(path, parameters: nil, headers: nil, success: { _, _ in self.reloadData() }) { _, error in
            self.errorText = error.localizedDescription
        }
    }

    func readError(_ path: String) {
        manager.get(path, parameters: nil, headers: nil, progress: nil, success: nil) { task, error in
            let error = error as NSError
            let response = error.userInfo[AFNetworkingOperationFailingURLResponseErrorKey] as? HTTPURLResponse
            let data = error.userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey] as? Data
            if error.domain == AFURLResponseSerializationErrorDomain, let data = data {
                self.errorText = "\(response?.statusCode ?? 0) \(String(data: data, encoding: .utf8) ?? "")"
            } else if error.code == NSURLErrorCancelled {
                self.errorText = "cancelled"
            }
        }
    }
}

/// A client of one's own, as the example of AFNetworking has it.
final class AppClient: AFHTTPSessionManager, @unchecked Sendable {
    static let shared: AppClient = {
        let client = AppClient(baseURL: URL(string: "https://alpha-api.example.net/"))
        client.securityPolicy = AFSecurityPolicy(pinningMode: .none)
        client.requestSerializer = AFJSONRequestSerializer()
        client.requestSerializer.setValue("application/json", forHTTPHeaderField: "Accept")
        client.requestSerializer.timeoutInterval = 10
        client.requestSerializer.cachePolicy = .reloadIgnoringLocalCacheData
        client.responseSerializer = AFJSONResponseSerializer(readingOptions: .fragmentsAllowed)
        client.responseSerializer.acceptableContentTypes?.insert("text/html")
        return client
    }()

    func posts(_ block: @escaping ([Any], Error?) -> Void) {
        get("stream/0/posts/stream/global", parameters: nil, headers: nil, progress: nil) { task, json in
            let posts = (json as? [String: Any])?["data"] as? [Any] ?? []
            block(posts, nil)
        } failure: { task, error in
            block([], error)
        }
    }
}

/// What a manager sends and takes.
@MainActor final class SerializerPage {
    let manager = AFHTTPSessionManager()

    func requests(_ url: String) -> [URLRequest] {
        let parameters: [String: Any] = ["foo": "bar", "baz": [1, 2, 3]]
        var error: NSError?
        let query = AFHTTPRequestSerializer()
            .request(withMethod: "GET", urlString: url, parameters: parameters, error: &error)
        query.timeoutInterval = 5
        query.addValue("a", forHTTPHeaderField: "X-A")
        let form = AFHTTPRequestSerializer()
            .request(withMethod: "POST", urlString: url, parameters: parameters, error: nil)
        form.httpShouldHandleCookies = false
        let json = AFJSONRequestSerializer(writingOptions: .prettyPrinted)
            .request(withMethod: "POST", urlString: url, parameters: parameters, error: nil)
        return [query as URLRequest, form as URLRequest, json as URLRequest]
    }

    func encodings() {
        let serializer = AFHTTPRequestSerializer()
        serializer.stringEncoding = String.Encoding.utf8.rawValue
        serializer.stringEncoding = .isoLatin1
        serializer.setQueryStringSerializationWith { request, parameters, error in
            return "q=\(parameters)"
        }
        serializer.setAuthorizationHeaderFieldWithUsername("user", password: "password")
        manager.requestSerializer = serializer
    }

    func compound() {
        let serializers: [AFHTTPResponseSerializer] = [AFJSONResponseSerializer(), AFPropertyListResponseSerializer()]
        let compound = AFCompoundResponseSerializer.compoundSerializer(withResponseSerializers: serializers)
        compound.acceptableStatusCodes = IndexSet(integersIn: 200..<500)
        manager.responseSerializer = compound
    }

    func pin(_ certificates: Set<Data>) {
        let policy = AFSecurityPolicy(pinningMode: AFSSLPinningMode.certificate, withPinnedCertificates: certificates)
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        manager.securityPolicy = policy
    }
}

/// A serializer of one's own, which leaves the body in the error.
final class BodyInErrorSerializer: AFJSONResponseSerializer, @unchecked Sendable {
    override func responseObject(for response: URLResponse?, data: Data?, error: NSErrorPointer) -> Any? {
        var failure: NSError?
        let object = super.responseObject(for: response, data: data, error: &failure)
        guard let found = failure else { return object }
        var userInfo = found.userInfo
        userInfo["body"] = data.flatMap { String(data: $0, encoding: .utf8) } ?? ""
        error?.pointee = NSError(domain: found.domain, code: found.code, userInfo: userInfo)
        return nil
    }
}

/// Notifications and the network.
@MainActor final class StatusPage {
    var statusText = ""
    var isOnline = false
    var ends = 0
    var observers: [any NSObjectProtocol] = []
    let manager = AFHTTPRequestOperationManager(baseURL: URL(string: "http://127.0.0.1/"))

    func watchNetwork() {
        AFNetworkReachabilityManager.shared().setReachabilityStatusChange { status in
            self.statusText = AFStringFromNetworkReachabilityStatus(status)
            switch status {
            case .reachableViaWWAN, .reachableViaWiFi: self.isOnline = true
            case .notReachable, .unknown: self.isOnline = false
            @unknown default: break
            }
        }
        AFNetworkReachabilityManager.shared().startMonitoring()
    }

    func suspendOffline() {
        let operationQueue = manager.operationQueue
        manager.reachabilityManager.setReachabilityStatusChange { status in
            switch status {
            case .reachableViaWWAN, .reachableViaWiFi: operationQueue.isSuspended = false
            default: operationQueue.isSuspended = true
            }
        }
        manager.reachabilityManager.startMonitoring()
    }

    func watchTasks() {
        let center = NotificationCenter.default
        observers.append(
            center.addObserver(forName: .AFNetworkingTaskDidComplete, object: nil, queue: .main) { notification in
                let error = notification.userInfo?[AFNetworkingTaskDidCompleteErrorKey] as? Error
                MainActor.assumeIsolated { self.ends += error == nil ? 1 : 0 }
            }
        )
    }
}
