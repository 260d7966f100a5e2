import AFWire
import Testing

struct TrailerSectionTests {
    private func rule(_ body: () throws(RequestRejection) -> Void) -> RequestRejection.Rule? {
        do throws(RequestRejection) {
            try body()
            return nil
        } catch {
            return error.rule
        }
    }

    private func end(_ names: [String], _ values: [String: String]) throws(RequestRejection) -> String {
        var buffer: [UInt8] = []
        ChunkWriter.appendEnd(trailers: try TrailerSection(names: names) { values }.fields(), to: &buffer)
        return String(decoding: buffer, as: UTF8.self)
    }

    @Test func `the fields stand behind the last chunk in the order of their announcement`() throws {
        let values = ["x-b": " two ", "X-A": "one"]

        #expect(try end(["X-A", "X-B", "X-C"], values) == "0\r\nX-A: one\r\nX-B: two\r\n\r\n")
        #expect(try end(["X-A"], [:]) == "0\r\n\r\n")
        #expect(try TrailerSection(names: ["X-A", "X-B"]) { [:] }.announcement == "X-A, X-B")
    }

    @Test(arguments: [
        "Transfer-Encoding", "content-length", "Trailer", "TE", "Host", "Connection", "Upgrade", "Expect", "Keep-Alive",
        "Proxy-Authorization", "Authorization", "Cookie", "Content-Type", "Content-Encoding", "Content-Range", "Range",
        "If-Match", "If-None-Match", "Cache-Control", "Max-Forwards", "Origin", "Forwarded", "Via",
    ])
    func `T-DUP-02 what frames, routes, proves or changes a message is no trailer field`(name: String) {
        #expect(rule { () throws(RequestRejection) in _ = try end(["X-A", name], [:]) } == .notAllowed)
    }

    @Test(arguments: [
        (["X A"], RequestRejection.Rule.notToken), ([""], .empty), (["X-A\r\nHost"], .notToken),
        (["X-A", "x-a"], .notAllowed),
    ])
    func `T-DUP-02 names are tokens, each once`(names: [String], expected: RequestRejection.Rule) {
        #expect(rule { () throws(RequestRejection) in _ = try end(names, [:]) } == expected)
    }

    @Test(arguments: [
        (["X-B": "1"], RequestRejection.Rule.notAnnounced), (["X-A": "1", "x-a": "2"], .notAnnounced),
        (["X-A": "1\r\nHost: evil"], .control), (["X-A": "1\0"], .control),
        (["X-A": String(repeating: "a", count: 300_000)], .tooLong),
    ])
    func `T-DUP-03 values that were not announced, or would end the section, are not written`(
        values: [String: String],
        expected: RequestRejection.Rule
    ) throws {
        #expect(rule { () throws(RequestRejection) in _ = try end(["X-A"], values) } == expected)
    }
}
