@Suite("Networks of our own")
struct NamespaceRunTests {
    @Test(.enabled(if: Namespace.isPossible, "needs network namespaces (root, or user namespaces), unshare and ip"))
    func `all is well with a kernel whose cables we may pull`() async throws {
        let outcome = try await Namespace.test("NamespaceTests")

        #expect(outcome.status == 0, "\(outcome.output)")
        #expect(outcome.output.contains("passed"), "\(outcome.output)")
    }
}
