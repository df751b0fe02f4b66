import Testing

@testable import WiretapeCLI

@Suite struct OwnStoresTests {
    @Test func eachLineIsACommentSoThatTheOutputCanBeAScript() {
        for line in OwnStores.installation(of: "/a b/ca.pem") + OwnStores.removal() { #expect(line.hasPrefix("#")) }
    }

    @Test func commandsNameTheFileAsOneWord() {
        let lines = OwnStores.installation(of: "/a b/ca.pem")
        #expect(lines.filter { $0.contains("'/a b/ca.pem'") }.count == 2)
        for word in ["Firefox", "certutil", "keytool"] {
            #expect(lines.contains { $0.contains(word) })
            #expect(OwnStores.removal().contains { $0.contains(word) })
        }
    }
}
