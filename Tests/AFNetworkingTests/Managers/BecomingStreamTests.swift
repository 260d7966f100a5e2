/// Data tasks of managers that become streams, which managers do not use.
@Suite struct BecomingStreamTests {
    private let site: ManagerSite
    private let manager: HTTPSessionManager
    private let heard = Heard<Answer>()

    init() throws {
        site = try ManagerSite()
        manager = site.manager
        manager.setDataTaskDidReceiveResponseBlock { _, _, _ in .becomeStream }
    }

    @Test func `5.10 a verb fails with its task and an error about the stream`() async throws {
        manager.get("bytes/500", parameters: nil, success: heard.success, failure: heard.failure)
        let answer = try await heard.wait(seconds: 10)[0]
        #expect(answer.error?.localizedDescription.contains("stream") == true)
        #expect(answer.task?.originalRequest?.url?.path == "/bytes/500")
    }

    @Test func `5.10 an async verb returns, and the connection ends`() async throws {
        site.server.route("GET", "/stalled", ServerReply.text("too slow").stalling(after: 3))
        let work = Task { [manager, heard] in
            do throws(RequestFailure) { try await manager.get("stalled") } catch {
                heard.add(Answer(response: error.response, error: error.error as NSError))
            }
        }
        defer { work.cancel() }
        #expect(try await heard.wait(seconds: 10)[0].error?.localizedDescription.contains("stream") == true)
        try await eventually("no task") { manager.tasks.isEmpty && site.server.openConnections == 0 }
    }
}
