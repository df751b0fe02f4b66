import Testing

@testable import WiretapeCLI

@Suite struct SystemStoreTests {
    @Test func aFolderGetsTheFileAndItsProgramMakesTheStore() {
        let store = SystemStore.folder("/anchors", update: "update-ca-certificates")
        #expect(store.needsRoot)
        #expect(
            store.installation(of: "/ca.pem") == [
                ["install", "-m", "644", "/ca.pem", "/anchors/wiretape.crt"], ["update-ca-certificates"],
            ])
        #expect(store.removal(of: "/ca.pem") == [["rm", "-f", "/anchors/wiretape.crt"], ["update-ca-certificates", "--fresh"]])
        #expect(SystemStore.folder("/anchors", update: "update-ca-trust").removal(of: "/ca.pem").last == ["update-ca-trust"])
    }

    @Test func aKeychainTakesTheCertificateAsARoot() {
        let own = SystemStore.keychain("/Users/bori/Library/Keychains/login.keychain-db")
        #expect(!own.needsRoot)
        #expect(
            own.installation(of: "/ca.pem") == [
                ["security", "add-trusted-cert", "-r", "trustRoot", "-k", "/Users/bori/Library/Keychains/login.keychain-db", "/ca.pem"]
            ])
        #expect(own.removal(of: "/ca.pem") == [["security", "remove-trusted-cert", "/ca.pem"]])
        let system = SystemStore.keychain("/Library/Keychains/System.keychain")
        #expect(system.installation(of: "/ca.pem")[0].contains("-d") && system.removal(of: "/ca.pem")[0].contains("-d"))
    }

    @Test(.enabled(if: Programs.isInstalled("update-ca-certificates") && Programs.isInstalled("dpkg")))
    func debianIsKnown() {
        #expect(SystemStore.current() == .folder("/usr/local/share/ca-certificates", update: "update-ca-certificates"))
    }
}
