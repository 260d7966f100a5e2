import AFNetworking
import AFNetworkingTesting
import Foundation
import Testing

/// The snippets of the article about managers.
@Suite struct ManagersTests {
    private let site: Site
    private let manager: HTTPSessionManager
    private let shown = Heard<String>()

    init() throws {
        site = try Site()
        manager = site.manager
        manager.completionQueue = DispatchQueue(label: "completions")
        site.server.route("GET", "/users/1", .json(#"{"name": "anna"}"#))
        site.server.route("*", "/users", .json("[]"))
        site.server.route("DELETE", "/users/1", ServerReply.json(#"{"why": "no"}"#).status(403))
    }

    @Test func `a manager has a base URL`() {
        let manager = HTTPSessionManager(baseURL: URL(string: "https://api.example.com/v1/"))
        defer { manager.invalidateSessionCancelingTasks(true, resetSession: false) }
        #expect(manager.baseURL?.path == "/v1")
    }

    @Test func `values and objects are asked for`() async throws {
        struct User: Decodable { let name: String }

        let user = try await manager.get("users/1", decode: User.self)
        let found = try await manager.get("users", parameters: ["name": "anna", "page": 2])
        try await manager.post("users", parameters: ["name": "berta"])

        #expect(user.name == "anna" && found.object is [Any])
        #expect(site.server.requests.map(\.target) == ["/users/1", "/users?name=anna&page=2", "/users"])

        do {
            try await manager.delete("users/1")
        } catch {
            switch error.kind {
            case .status: print(error.statusCode ?? 0, error.object ?? "")
            case .cancelled: break
            default: print(error.localizedDescription)
            }
        }
        let error = await #expect(throws: RequestFailure.self) { try await manager.delete("users/1") }
        #expect(error?.kind == .status && error?.statusCode == 403)
    }

    @Test func `a verb takes a decoder`() async throws {
        struct Member: Decodable { let firstName: String }
        site.server.route("GET", "/members/1", .json(#"{"first_name": "anna"}"#))

        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let member = try await manager.get("members/1", decode: Member.self, with: decoder)

        #expect(member.firstName == "anna")
    }

    @Test func `a field for another server is given to the call`() async throws {
        let (other, token) = (try Site(), "t0ken")
        other.server.route("GET", "/users", .json("[]"))
        let mirror = other.url("/users")
        manager.requestSerializer.setValue("Bearer secret", forHTTPHeaderField: "Authorization")

        try await manager.get(mirror.absoluteString, headers: ["Authorization": "Bearer \(token)"])

        try await manager.get(mirror.absoluteString)
        #expect(other.server.requests.map { $0.headers["Authorization"] } == ["Bearer t0ken", nil])
    }

    @Test func `closures are called`() async throws {
        let shown = shown
        @Sendable func show(_ object: Any?) { shown.add("object") }
        @Sendable func report(_ error: any Error) { shown.add("error") }

        manager.get("users", parameters: ["page": 2]) { task, object in
            show(object)
        } failure: { task, error in
            report(error)
        }

        #expect(try await shown.wait() == ["object"])
    }

    @Test func `a serializer says what requests are made of`() async throws {
        manager.requestSerializer = JSONRequestSerializer()
        manager.requestSerializer.setValue("3.2", forHTTPHeaderField: "X-Client")

        try await manager.post("users", parameters: ["name": "berta"])
        #expect(site.server.requests.first?.headers["X-Client"] == "3.2")
        #expect(site.server.requests.first?.bodyText == #"{"name":"berta"}"#)
    }

    @Test func `a file is downloaded, and progress is told`() async throws {
        let temporary = try ScratchFolder()
        let (folder, request) = (temporary.url, URLRequest(url: site.url("/bytes/1000")))

        let task = manager.downloadTask(with: request, progress: nil) { _, response in
            folder.appendingPathComponent(response.suggestedFilename ?? "download")
        } completionHandler: { response, file, error in
            print(file ?? "nowhere", error ?? "fine")
        }
        task.resume()

        for await step in manager.progressSteps(of: task) {
            print(step.fractionReceived ?? 0)
        }
        let file = folder.appendingPathComponent("1000")
        try await eventually { (try? Data(contentsOf: file).count) == 1000 }
    }

    @Test func `a challenge is answered`() async throws {
        let (host, password) = ("127.0.0.1", "secret")
        site.server.route("GET", "/", .text("in"))

        manager.setAuthenticationChallengeHandler { session, task, challenge, completion in
            let space = challenge.protectionSpace
            guard space.host == host, !space.isProxy(),
                space.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
            else { return .performDefaultHandling }
            return .credential(URLCredential(user: "anna", password: password, persistence: .forSession))
        }

        manager.responseSerializer = HTTPResponseSerializer()
        let answer = try await manager.get("basic-auth/anna/secret")
        #expect(answer.response?.statusCode == 200)

        let elsewhere = site.server.url("/basic-auth/anna/secret", host: "localhost").absoluteString
        await #expect(throws: (any Error).self) { try await manager.get(elsewhere) }
        #expect(site.server.requests.last?.headers["Authorization"] == nil)
    }
}
