/// The property `responseSerializer` of managers, whose type depends on the manager.
@Suite struct SerializerTypeTests {
    @Test func `5.1 6.1 a session manager takes any serializer, one of HTTP has those of HTTP`() {
        let sessions = URLSessionManager(sessionConfiguration: .ephemeral)
        sessions.responseSerializer = WordSerializer()
        #expect(sessions.responseSerializer is WordSerializer)

        let manager = HTTPSessionManager(baseURL: nil)
        #expect(manager.responseSerializer is JSONResponseSerializer)
        manager.responseSerializer.acceptableContentTypes = ["application/json", "text/html"]
        #expect(manager.responseSerializer.acceptableContentTypes == ["application/json", "text/html"])

        let same: URLSessionManager = manager
        #expect(same.responseSerializer === manager.responseSerializer)
        let other = PropertyListResponseSerializer()
        same.responseSerializer = other
        #expect(manager.responseSerializer === other)
    }

    @Test func `6.1 another serializer decides alone until types or codes are set`() async throws {
        let site = try ManagerSite()
        let manager = site.owned(
            HTTPSessionManager(baseURL: site.server.url("/"), sessionConfiguration: site.configuration)
        )
        manager.responseSerializer = WordSerializer()
        #expect(try await manager.get("status/404").object as? String == "a word")
        let copy = site.owned(try #require(manager.copy() as? HTTPSessionManager))
        #expect(try await copy.get("status/404").object as? String == "a word")
        // The manager does not know what it accepts.
        await #expect(throws: RequestFailure.self) { try await manager.get("status/404", decode: [String].self) }

        manager.responseSerializer.acceptableStatusCodes = [200]
        #expect(try await manager.get("get").object as? String == "a word")
        let failure = await #expect(throws: RequestFailure.self) { try await manager.get("status/404") }
        #expect(failure?.statusCode == 404)
        #expect(try await copy.get("status/404").object as? String == "a word")
    }

    @Test func `6.1 the serializer of a subclass is the one that is used`() async throws {
        final class Wordy: HTTPSessionManager, @unchecked Sendable {
            override var responseSerializer: HTTPResponseSerializer {
                get { HTTPResponseSerializer() }
                set { super.responseSerializer = newValue }
            }
        }
        let site = try ManagerSite()
        let manager = site.owned(Wordy(baseURL: site.server.url("/"), sessionConfiguration: site.configuration))
        #expect(try await manager.get("bytes/3").object is Data)
    }
}
