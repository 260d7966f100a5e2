import Testing

@testable import AFURLTypes

struct ProvenCredentialsTests {
    @Test("our nonces are 128 bits of the system's randomness, T-AUT-10")
    func randomness() throws {
        let proven = ProvenCredentials(CredentialSettings(storage: nil))
        let nonces = (0..<200).compactMap { _ in proven.clientNonce() }
        #expect(nonces.allSatisfy { $0.count == 32 })
        #expect(Set(nonces).count == 200)
        // Every digit at every place: none of it is constant.
        for place in 0..<32 { #expect(Set(nonces.map { $0[place] }).count > 8) }
    }
}
