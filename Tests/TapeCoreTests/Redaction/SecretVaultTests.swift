import Testing

@testable import TapeCore

@Suite struct SecretVaultTests {
    @Test func theSameSecretHasTheSamePlaceholder() {
        let vault = SecretVault()
        #expect(vault.placeholder(for: Array("a/b-secret1".utf8), kind: "token").description == "{{token:1}}")
        #expect(vault.placeholder(for: Array("a%2Fb-secret1".utf8), kind: "cookie").description == "{{token:1}}")
        #expect(vault.placeholder(for: Array("another1".utf8), kind: "token").description == "{{token:2}}")
        #expect(vault.placeholder(for: Array("third123".utf8), kind: "cookie").description == "{{cookie:1}}")
        #expect(vault.count == 3)
    }

    @Test func itsGenerationGrowsWithWhatIsSearchedFor() {
        let vault = SecretVault()
        #expect(vault.isEmpty)
        _ = vault.placeholder(for: Array("abc".utf8), kind: "cookie")
        #expect(vault.generation == 0)
        _ = vault.placeholder(for: Array("a3f9c2d1e8".utf8), kind: "token")
        #expect(vault.generation == 1)
        _ = vault.placeholder(for: Array("a3f9c2d1e8".utf8), kind: "token")
        #expect(vault.generation == 1)
        #expect(!vault.isEmpty)
        #expect(vault.snapshot().placeholders.count == 2)
    }
}
