import Foundation
import Testing

@testable import TapeTrust

@Suite struct AuthorityFolderTests {
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
        #expect(AuthorityFolder.standard(environment: environment) == folder)
    }
    #endif

    @Test func withoutAHomeTheUsersEntrySaysWhere() throws {
        let folder = try #require(AuthorityFolder.standard(environment: ["HOME": ""]))
        #expect(folder.hasPrefix("/") && folder.hasSuffix("wiretape"))
    }

    @Test func theHomeIsTheEnvironmentsOrThatOfTheUsersEntry() {
        #expect(AuthorityFolder.home(environment: ["HOME": "/home/bori"]) == "/home/bori")
        let entry = AuthorityFolder.home(environment: [:])
        #expect(entry != "/home/bori" && AuthorityFolder.home(environment: ["HOME": "relative"]) == entry)
    }

    @Test func aRelativeFolderIsTakenFromHere() {
        let here = FileManager.default.currentDirectoryPath
        #expect(AuthorityFolder.absolute("x/y") == (here == "/" ? "/x/y" : here + "/x/y"))
        #expect(AuthorityFolder.absolute("/x") == "/x")
        #expect(AuthorityFolder.standard(environment: ["WIRETAPE_CA_DIR": "x"]) == AuthorityFolder.absolute("x"))
    }

    @Test func theProgramIsAnAbsolutePath() {
        #expect(AuthorityFolder.program.hasPrefix("/"))
        #expect(FileManager.default.isExecutableFile(atPath: AuthorityFolder.program))
    }
}
