/// Parameters of multipart forms, which become parts with names.
@Suite struct NamelessPartTests {
    private let site: ManagerSite

    init() throws {
        site = try ManagerSite()
    }

    // Unchecked: constants that nothing changes.
    struct Parameters: @unchecked Sendable {
        let value: Any

        static let nameless = [
            Parameters(value: ["a", "b"]), Parameters(value: "a=b"), Parameters(value: 5), Parameters(value: [1: "a"]),
        ]
    }

    private func expectRefusal(_ error: NSError?) throws {
        let error = try #require(error)
        #expect(error.domain == HTTPRequestSerializer.errorDomain)
        #expect(error.code == NSURLErrorCannotDecodeContentData)
        #expect(error.localizedDescription.contains("no names for the parts of a multipart form"))
        #expect(site.server.connections.isEmpty)
    }

    @Test(
        "8.4 a form with parameters that have no names is a failure without a task, and nothing is sent",
        arguments: Parameters.nameless
    )
    func sessionManager(_ parameters: Parameters) async throws {
        let manager = site.manager
        let heard = Heard<Answer>()

        let task = manager.post(
            "post",
            parameters: parameters.value,
            constructingBodyWith: { $0.appendPart(withForm: Data("b".utf8), name: "a") },
            success: heard.success,
            failure: heard.failure
        )

        #expect(task == nil)
        try expectRefusal(try await heard.first.error)
    }

    @Test(
        "8.4 a form with parameters that have no names is a failure without an operation",
        arguments: Parameters.nameless
    )
    func operationManager(_ parameters: Parameters) async throws {
        let manager = HTTPRequestOperationManager(baseURL: site.server.url("/"))
        let heard = Heard<NSError>()

        let operation = manager.post("post", parameters: parameters.value, constructingBodyWith: nil) { _, _ in
            heard.add(NSError(domain: "none", code: 0))
        } failure: { operation, error in
            #expect(operation == nil)
            heard.add(error as NSError)
        }

        #expect(operation == nil)
        try expectRefusal(try await heard.first)
    }

    @Test func `8.4 parameters with names are parts beside those of the block`() async throws {
        let heard = Heard<Answer>()
        for parameters in [["n": "1"] as Any, ["n": "1"] as [AnyHashable: Any], NSDictionary(dictionary: ["n": "1"])] {
            let count = heard.all.count + 1
            site.manager.post(
                "post",
                parameters: parameters,
                constructingBodyWith: { $0.appendPart(withForm: Data("b".utf8), name: "a") },
                success: heard.success,
                failure: heard.failure
            )
            let answer = try await heard.wait(for: count)[count - 1]
            #expect(answer["form.n"] == "1" && answer["form.a"] == "b", "\(parameters)")
        }
    }
}
