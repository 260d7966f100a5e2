import AFTLS
import Testing

@Suite struct TrustAnchorsTests {
    @Test("the system's authorities are loaded and shared")
    func system() throws {
        let store = try TrustAnchors.system.store()

        #expect(store.count > 10)
        #expect(try TrustAnchors.system.store() === store)
        #expect(TrustAnchors.system.isLoaded)
    }
}
