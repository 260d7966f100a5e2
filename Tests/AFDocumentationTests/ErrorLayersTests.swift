import AFImages
import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

private let reported = Heard<String>()

@Sendable private func report(_ text: String) { reported.add(text) }

@Sendable private func show(_ object: Any?) { reported.add("shown") }

final class Page: URLConnectionDataDelegate {
    func connection(_ connection: URLConnection, didFailWithError error: any Error) {
        report((error as? URLError)?.loadFailure?.message ?? error.localizedDescription)
    }
}

/// Each layer hands out the whole story of a failed load, in the way the articles show.
@Suite struct ErrorLayersTests {
    private let site: Site
    private let pins: SecurityPolicy

    init() throws {
        site = try Site(tls: true)
        pins = SecurityPolicy(pinningMode: .publicKey, certificates: [try CertificateAuthority().certificate])
    }

    private var place: String { "localhost:\(site.server.port)" }

    @Test func `every layer tells what was wrong with a server`() async throws {
        let url = site.url("/users")
        // The authority of the server is not one of the system's.
        let manager = site.owned(HTTPSessionManager(baseURL: site.url("/"), sessionConfiguration: .ephemeral))
        manager.completionQueue = DispatchQueue(label: "completions")
        let operation = HTTPRequestOperation(request: URLRequest(url: url))
        operation.completionQueue = manager.completionQueue
        let downloader = ImageDownloader(sessionConfiguration: .ephemeral)
        let queue = OperationQueue()

        manager.get("users", parameters: nil) { task, object in
            show(object)
        } failure: { task, error in
            report((error as? URLError)?.loadFailure?.message ?? error.localizedDescription)
        }

        do {
            show(try await manager.get("users").object)
        } catch {
            report(error.loadFailure?.message ?? error.localizedDescription)
        }

        operation.setCompletionBlock { operation, object in
            show(object)
        } failure: { operation, error in
            report((error as? URLError)?.loadFailure?.message ?? error.localizedDescription)
        }
        operation.start()

        let connection = URLConnection(request: URLRequest(url: url), delegate: Page(), startImmediately: false)
        connection?.setDelegateQueue(queue)
        connection?.start()

        do {
            show(try await downloader.image(from: url))
        } catch {
            report((error as? URLError)?.loadFailure?.message ?? error.localizedDescription)
        }

        do {
            show(try await site.owned(URLSession(configuration: .ephemeral)).data(from: url).0)
        } catch {
            report((error as? URLError)?.loadFailure?.message ?? error.localizedDescription)
        }

        let told = try await reported.wait(for: 6)
        #expect(told.count == 6)
        for text in told { #expect(text.hasPrefix("The server at \(place) is not trusted: ")) }
        #expect(site.server.requests.isEmpty)
    }

    @Test func `a pin that fails is found out in the errors of managers and operations`() async throws {
        let manager = site.manager
        manager.securityPolicy = pins
        let operation = HTTPRequestOperation(request: URLRequest(url: site.url("/x")))
        let policy = pins.copy()
        policy.allowInvalidCertificates = true
        operation.securityPolicy = policy
        operation.start()
        var errors: [any Error] = []
        do { try await manager.get("x") } catch { errors.append(error) }
        try await eventually { operation.isFinished }
        errors.append(try #require(operation.error))

        for error in errors {
            let failure = (error as? RequestFailure)?.loadFailure ?? (error as? URLError)?.loadFailure
            if failure?.detail == .policy {
                print(failure?.security?.rule ?? "", failure?.message ?? "")
                print(failure?.security?.servedChain.map(\.pin) ?? [])
            }
            #expect(failure?.detail == .policy && failure?.security?.rule == "pinned public keys")
            #expect(failure?.security?.servedChain.isEmpty == false)
        }
    }
}
