import AFNetworking
import Foundation

/// The code under test: asks a service for the weather, bears with it where it can, and says what is wrong where not.
///
/// Its tests are in Tests/WeatherClientTests.swift.
struct WeatherClient: Sendable {
    struct Report: Codable, Equatable, Sendable {
        var place: String
        var degrees: Double
    }

    enum Failure: Error, Equatable {
        case tooSlow
        case connectionLost
        /// The server that answers is not the service.
        case notTrusted
        case unexpected(String)
    }

    private let session: URLSession
    private let service: URL

    /// - Parameters:
    ///   - service: Where it is. A test passes a `TestServer`'s URL.
    ///   - configuration: A test passes one with its own authority and less patience.
    init(service: URL, configuration: URLSessionConfiguration = WeatherClient.configuration) {
        self.service = service
        session = URLSession(configuration: configuration)
    }

    /// Patient for five seconds, and for three attempts.
    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = 5
        configuration.requestInterceptors = [RetryRules(maximumAttempts: 3)]
        return configuration
    }

    func close() { session.invalidateAndCancel() }

    func report(for place: String) async throws(Failure) -> Report {
        let url = service.appending(path: "weather").appending(queryItems: [URLQueryItem(name: "at", value: place)])
        do {
            let (body, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else { throw Failure.unexpected("status \(status)") }
            return try JSONDecoder().decode(Report.self, from: body)
        } catch {
            throw Failure(error)
        }
    }
}

extension WeatherClient.Failure {
    init(_ error: any Error) {
        switch error {
        case let failure as WeatherClient.Failure: self = failure
        case is DecodingError: self = .unexpected("no weather report")
        case let error as URLError where error.loadFailure?.reason == .trust: self = .notTrusted
        case let error as URLError where error.code == .timedOut: self = .tooSlow
        case let error as URLError where error.code == .networkConnectionLost: self = .connectionLost
        default: self = .unexpected(error.localizedDescription)
        }
    }
}
