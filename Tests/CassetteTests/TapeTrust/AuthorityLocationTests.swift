import Foundation
@testable import TapeTrust
import Testing

@Suite struct AuthorityLocationTests {
    #if !canImport(Darwin)
    @Test(
        arguments: [
            (["WIRETAPE_CA_DIR": "/ca", "XDG_DATA_HOME": "/data", "HOME": "/home/bori"], "/ca"),
            (["WIRETAPE_CA_DIR": "", "XDG_DATA_HOME": "/data", "HOME": "/home/bori"], "/data/wiretape"),
            (["XDG_DATA_HOME": "/data/"], "/data/wiretape"),
            (["XDG_DATA_HOME": "relative", "HOME": "/home/bori"], "/home/bori/.local/share/wiretape"),
            (["HOME": "/"], "/.local/share/wiretape"),
        ] as [([String: String], String)])
    func theEnvironmentSaysWhere(environment: [String: String], folder: String) {
        #expect(AuthorityLocation.standard(environment: environment) == folder)
    }
    #endif

    @Test func withoutAHomeTheUsersEntrySaysWhere() throws {
        let folder = try #require(AuthorityLocation.standard(environment: ["HOME": ""]))
        #expect(folder.hasPrefix("/") && folder.hasSuffix("wiretape"))
    }

    @Test func theHomeIsTheEnvironmentsOrThatOfTheUsersEntry() {
        #expect(AuthorityLocation.home(environment: ["HOME": "/home/bori"]) == "/home/bori")
        let entry = AuthorityLocation.home(environment: [:])
        #expect(entry != "/home/bori" && AuthorityLocation.home(environment: ["HOME": "relative"]) == entry)
    }

    @Test func aRelativeFolderIsTakenFromHere() {
        let here = FileManager.default.currentDirectoryPath
        #expect(AuthorityLocation.absolute("x/y") == (here == "/" ? "/x/y" : here + "/x/y"))
        #expect(AuthorityLocation.absolute("/x") == "/x")
        #expect(AuthorityLocation.standard(environment: ["WIRETAPE_CA_DIR": "x"]) == AuthorityLocation.absolute("x"))
    }

    @Test func theProgramIsAnAbsolutePath() {
        #expect(AuthorityLocation.program.hasPrefix("/"))
        #expect(FileManager.default.isExecutableFile(atPath: AuthorityLocation.program))
    }
}
