import TapeTestSupport
import Testing

@testable import WiretapeTesting

struct TestCassetteFolderTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func path(_ source: String, _ environment: [String: String] = [:]) throws -> String {
        try TestCassetteFolder.path(forSource: "\(self.folder.path)/\(source)", environment: environment)
    }

    @Test func nearestFolderWithCassettesIsTaken() throws {
        try self.folder.write("", to: "Package.swift")
        try self.folder.makeFolder("Cassettes")
        try self.folder.makeFolder("Tests/Deep/Deeper")
        #expect(try self.path("Tests/Deep/Deeper/A.swift") == "\(self.folder.path)/Cassettes")
        try self.folder.makeFolder("Tests/Cassettes")
        #expect(try self.path("Tests/Deep/Deeper/A.swift") == "\(self.folder.path)/Tests/Cassettes")
    }

    @Test func packageGetsAFolderOfItsOwn() throws {
        try self.folder.makeFolder("Cassettes")
        try self.folder.write("", to: "Inner/Package.swift")
        try self.folder.makeFolder("Inner/Tests")
        #expect(try self.path("Inner/Tests/A.swift") == "\(self.folder.path)/Inner/Cassettes")
    }

    @Test func fileOfThatNameIsNoFolder() throws {
        try self.folder.write("", to: "Package.swift")
        try self.folder.write("", to: "Tests/Cassettes")
        #expect(try self.path("Tests/A.swift") == "\(self.folder.path)/Cassettes")
    }

    @Test func withoutAPackageItIsNextToTheSource() throws {
        try self.folder.makeFolder("Tests")
        #expect(try self.path("Tests/A.swift") == "\(self.folder.path)/Tests/Cassettes")
    }

    @Test func environmentNamesAnother() throws {
        #expect(try self.path("A.swift", ["WIRETAPE_CASSETTES": "/tmp/x/../y/"]) == "/tmp/y")
        #expect(try TestCassetteFolder.path(forSource: "/no/such/A.swift", environment: ["WIRETAPE_CASSETTES": "/tmp/y"]) == "/tmp/y")
        try self.folder.makeFolder("Cassettes")
        #expect(try self.path("A.swift", ["WIRETAPE_CASSETTES": ""]) == "\(self.folder.path)/Cassettes")
    }

    @Test(arguments: ["/no/such/folder/A.swift", "Tests/A.swift", ""]) func sourceOfAnotherMachineIsAnError(source: String) {
        let error = #expect(throws: CassetteTestError.self) { try TestCassetteFolder.path(forSource: source, environment: [:]) }
        #expect(error?.code == .noFolder)
        #expect(error?.message.contains("WIRETAPE_CASSETTES") == true)
    }
}
