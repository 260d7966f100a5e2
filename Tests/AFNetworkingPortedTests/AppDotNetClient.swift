import AFNetworking
import Foundation

// Clients as apps make them: a subclass with a shared instance, and its own way to begin.

class AppDotNetClient: AFHTTPSessionManager, @unchecked Sendable {
    static let shared = AppDotNetClient(
        baseURL: URL(string: "https://api.example.com/"),
        sessionConfiguration: .default
    )

    override init(baseURL url: URL?, sessionConfiguration configuration: URLSessionConfiguration?) {
        super.init(baseURL: url, sessionConfiguration: configuration)
        responseSerializer.acceptableContentTypes = ["application/json", "text/html"]
        requestSerializer.setValue("dotnet", forHTTPHeaderField: "X-Client")
    }

    required init?(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
    }

    class func globalTimelinePosts(from client: AppDotNetClient, block: @escaping ([Any], Error?) -> Void)
        -> URLSessionDataTask?
    {
        return client.get(
            "stream/0/posts/stream/global",
            parameters: nil,
            headers: nil,
            progress: nil,
            success: { task, JSON in
                block((JSON as? [String: Any])?["data"] as? [Any] ?? [], nil)
            },
            failure: { task, error in
                block([], error)
            }
        )
    }
}

/// A client that is never read from an archive.
class QuietClient: AFHTTPSessionManager, @unchecked Sendable {
    private(set) var token: String

    init(baseURL url: URL?) {
        token = "none"
        super.init(baseURL: url, sessionConfiguration: nil)
        responseSerializer = AFJSONResponseSerializer()
    }

    required init?(coder aDecoder: NSCoder) {
        fatalError("init(coder:) has not been implemented")
    }
}

/// One with nothing of its own to begin with.
class PlainClient: AFHTTPSessionManager, @unchecked Sendable {
    static let shareInstance: PlainClient = {
        let tools = PlainClient()
        tools.responseSerializer.acceptableContentTypes?.insert("text/html")
        tools.responseSerializer.acceptableContentTypes?.insert("text/plain")
        return tools
    }()
}

/// One of 2.x.
class OperationClient: AFHTTPRequestOperationManager, @unchecked Sendable {
    override init(baseURL url: URL?) {
        super.init(baseURL: url)
        requestSerializer = AFJSONRequestSerializer()
        responseSerializer = AFJSONResponseSerializer(readingOptions: .fragmentsAllowed)
        reachabilityManager.startMonitoring()
    }

    required init?(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
    }
}

/// One of sessions without verbs.
class TransferCenter: AFURLSessionManager, @unchecked Sendable {
    override init(sessionConfiguration configuration: URLSessionConfiguration?) {
        super.init(sessionConfiguration: configuration)
        responseSerializer = AFHTTPResponseSerializer()
    }

    required init?(coder aDecoder: NSCoder) {
        super.init(coder: aDecoder)
    }
}
