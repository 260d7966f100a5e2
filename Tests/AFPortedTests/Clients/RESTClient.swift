import AFURLSession
import Foundation

// Client code as it is written for Foundation's loader. In this folder nothing but the import line knows of another.

struct Article: Codable, Equatable {
    var id: Int
    var title: String
    var tags: [String]
}

enum APIError: Error, Equatable {
    case invalidURL
    case transport(URLError.Code)
    case status(Int)
    case noData
    case decoding
}

/// Completion handlers, JSON and a retry: the networking layer of thousands of apps.
final class RESTClient {
    typealias Completion<Value> = (Result<Value, APIError>) -> Void

    private let baseURL: URL
    private let session: URLSession
    private let decoder = JSONDecoder()
    private let encoder = JSONEncoder()
    var token: String?

    init(baseURL: URL, session: URLSession = .shared) {
        self.baseURL = baseURL
        self.session = session
    }

    convenience init(baseURL: URL, timeout: TimeInterval) {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = timeout
        configuration.timeoutIntervalForResource = timeout * 10
        configuration.waitsForConnectivity = false
        configuration.httpMaximumConnectionsPerHost = 4
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpAdditionalHeaders = ["Accept": "application/json", "User-Agent": "ArticleReader/2.1"]
        self.init(baseURL: baseURL, session: URLSession(configuration: configuration))
    }

    @discardableResult
    func articles(tagged tag: String?, completion: @escaping Completion<[Article]>) -> URLSessionDataTask? {
        var components = URLComponents(url: baseURL.appendingPathComponent("articles"), resolvingAgainstBaseURL: false)
        components?.queryItems = tag.map { [URLQueryItem(name: "tag", value: $0)] }
        guard let url = components?.url else {
            completion(.failure(.invalidURL))
            return nil
        }
        let task = session.dataTask(with: authorized(URLRequest(url: url))) { [decoder] data, response, error in
            completion(Self.decode(data, response, error, decoder))
        }
        task.resume()
        return task
    }

    @discardableResult
    func create(_ article: Article, completion: @escaping Completion<Article>) -> URLSessionDataTask {
        var request = URLRequest(url: baseURL.appendingPathComponent("articles"))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = try? encoder.encode(article)
        request.timeoutInterval = 10
        let task = session.dataTask(with: authorized(request)) { [decoder] data, response, error in
            completion(Self.decode(data, response, error, decoder))
        }
        task.priority = URLSessionTask.highPriority
        task.taskDescription = "create \(article.id)"
        task.resume()
        return task
    }

    func delete(id: Int, retries: Int = 2, completion: @escaping (APIError?) -> Void) {
        var request = URLRequest(
            url: baseURL.appendingPathComponent("articles/\(id)"),
            cachePolicy: .reloadIgnoringLocalAndRemoteCacheData,
            timeoutInterval: 5
        )
        request.httpMethod = "DELETE"
        session.dataTask(with: authorized(request)) { _, response, error in
            if let error = error as? URLError {
                completion(.transport(error.code))
                return
            }
            guard let http = response as? HTTPURLResponse else {
                completion(.noData)
                return
            }
            switch http.statusCode {
            case 200..<300: completion(nil)
            case 503 where retries > 0: self.delete(id: id, retries: retries - 1, completion: completion)
            default: completion(.status(http.statusCode))
            }
        }.resume()
    }

    private func authorized(_ request: URLRequest) -> URLRequest {
        guard let token = token else { return request }
        var request = request
        request.addValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        return request
    }

    private static func decode<Value: Decodable>(
        _ data: Data?,
        _ response: URLResponse?,
        _ error: Error?,
        _ decoder: JSONDecoder
    ) -> Result<Value, APIError> {
        if let error = error {
            return .failure(.transport((error as? URLError)?.code ?? .unknown))
        }
        guard let response = response as? HTTPURLResponse else { return .failure(.noData) }
        guard (200...299).contains(response.statusCode) else { return .failure(.status(response.statusCode)) }
        guard let data = data, !data.isEmpty else { return .failure(.noData) }
        guard let value = try? decoder.decode(Value.self, from: data) else { return .failure(.decoding) }
        return .success(value)
    }
}

/// A script that waits for its answer.
func loadSynchronously(_ request: URLRequest, in session: URLSession) -> (Data?, HTTPURLResponse?, NSError?) {
    let semaphore = DispatchSemaphore(value: 0)
    var result: (Data?, HTTPURLResponse?, NSError?)
    let lock = NSLock()
    let task = session.dataTask(with: request) { data, response, error in
        lock.lock()
        result = (data, response as? HTTPURLResponse, error as NSError?)
        lock.unlock()
        semaphore.signal()
    }
    task.resume()
    semaphore.wait()
    return result
}
