import Testing

@testable import WiretapeCLI

@Suite struct WgetSettingsTests {
    private func text(_ user: String, _ bundle: String = "/b.pem") -> String {
        String(decoding: WgetSettings.text(user: Array(user.utf8), bundle: bundle), as: UTF8.self)
    }

    @Test func theUsersOwnGoFirst() {
        #expect(self.text("timeout = 3\n").hasPrefix("timeout = 3\n# by wiretape"))
        #expect(self.text("timeout = 3").hasPrefix("timeout = 3\n# by wiretape"))
        #expect(self.text("").hasSuffix("\nca_certificate = /b.pem\n"))
    }

    @Test func aRunInARunDoesNotAddAgain() {
        let once = self.text("timeout = 3\n", "/a.pem")
        #expect(self.text(once) == self.text("timeout = 3\n"))
        #expect(self.text(self.text("", "/a.pem")) == self.text(""))
    }

    @Test func theyAreFoundAsWgetFindsThem() throws {
        let folder = try TemporaryFolder()
        try folder.write([1], to: ".wgetrc")
        let other = try folder.write([2], to: "other")
        #expect(WgetSettings.read(["HOME": folder.path]) == [1])
        #expect(WgetSettings.read(["HOME": folder.path, "WGETRC": other]) == [2])
        #expect(WgetSettings.read(["HOME": folder.path, "WGETRC": folder.file("none")]) == [])
        #expect(WgetSettings.read([:]) == [])
    }
}
