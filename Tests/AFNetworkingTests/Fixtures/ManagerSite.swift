/// A server with ready-made routes, and managers for it.
final class ManagerSite: Sendable {
    let server: TestServer
    /// How its certificate is signed; nil for one without TLS.
    let root: CertificateAuthority?
    private let managers = Managers()

    /// A session holds its manager until it is invalidated.
    private final class Managers: @unchecked Sendable {
        private let lock = NSLock()
        private var list: [URLSessionManager] = []

        func add(_ manager: URLSessionManager) { lock.withLock { list.append(manager) } }

        deinit {
            for manager in list { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        }
    }

    init(tls: Bool = false) throws {
        if tls {
            let root = try CertificateAuthority()
            self.root = root
            server = try TestServer(tls: ServerTLS(try root.issue(for: "127.0.0.1")))
        } else {
            root = nil
            server = try TestServer()
        }
        server.install(.everything)
        server.route("POST", "/count") { .text("\($0.bodyByteCount)") }
    }

    var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        if let root { configuration.tls.anchors = .certificates([root.certificate]) }
        return configuration
    }

    var manager: HTTPSessionManager {
        owned(HTTPSessionManager(baseURL: server.url("/"), sessionConfiguration: configuration))
    }

    /// The manager itself; its session ends with the site.
    func owned<Manager: URLSessionManager>(_ manager: Manager) -> Manager {
        managers.add(manager)
        return manager
    }

    /// The task of a verb that a manager with this base URL makes for this text.
    func task(_ text: String, relativeTo base: String) -> URLSessionDataTask? {
        let manager = owned(HTTPSessionManager(baseURL: URL(string: base)))
        return manager.dataTask(
            withHTTPMethod: "GET",
            urlString: text,
            parameters: nil,
            headers: nil,
            uploadProgress: nil,
            downloadProgress: nil,
            success: nil,
            failure: nil
        )
    }

    func request(_ path: String, method: String = "GET") -> URLRequest {
        var request = URLRequest(url: server.url(path))
        request.httpMethod = method
        return request
    }
}

extension URLSessionManager {
    /// A data task whose progress no closure follows.
    func dataTask(with request: URLRequest, completionHandler: TaskCompletionHandler?) -> URLSessionDataTask {
        dataTask(with: request, uploadProgress: nil, downloadProgress: nil, completionHandler: completionHandler)
    }
}

/// What success and failure closures received.
struct Answer: @unchecked Sendable {
    var task: URLSessionDataTask?
    var response: URLResponse?
    var object: Any?
    var error: NSError?
    var queue = Queues.current

    var json: [String: Any]? { object as? [String: Any] }

    /// A value in a JSON document, by keys with dots between them.
    subscript(path: String) -> String? {
        var value: Any? = object
        for key in path.split(separator: ".") { value = (value as? [String: Any])?[String(key)] }
        return value as? String
    }
}

extension Heard<Answer> {
    var success: @Sendable (URLSessionDataTask, Any?) -> Void {
        { task, object in self.add(Answer(task: task, response: task.response, object: object)) }
    }

    var failure: @Sendable (URLSessionDataTask?, any Error) -> Void {
        { task, error in self.add(Answer(task: task, response: task?.response, error: error as NSError)) }
    }

    var completion: @Sendable (URLResponse?, Any?, (any Error)?) -> Void {
        { response, object, error in self.add(Answer(response: response, object: object, error: error as NSError?)) }
    }

    var download: @Sendable (URLResponse?, URL?, (any Error)?) -> Void {
        { response, url, error in self.add(Answer(response: response, object: url, error: error as NSError?)) }
    }
}
