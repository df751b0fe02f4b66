import Foundation
import TapeTestSupport
import Testing

struct CassetteInventoryTests {
    private static let cassette = """
        {"wiretape": 1, "recorder": "wiretape 0.1.0", "test": "ShopTests.Pets/list()", "interactions": [
          {"id": 1, "started": "2026-11-21T04:19:28.123456Z", "request": {"method": "GET", "url": "http://pets.test/1"},
           "response": {"status": 200, "body": {"size": 1, "text": "a"}}},
          {"id": 2, "started": "2026-11-20T04:19:28.123456Z", "request": {"method": "GET", "url": "http://pets.test/\\u001b[2J"},
           "outcome": {"failed": "dns"}},
          {"id": 3, "request": {"method": "GET", "url": "http://pets.test/3"}, "response": {"status": 200, "body": {"size": 20}},
           "outcome": {"cut": "origin"}}
        ]}
        """

    private static let nothing = CassetteUses.Run(paths: [], active: [], tests: [])

    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func write(_ text: String, to name: String) throws { _ = try self.folder.write(Array(text.utf8), to: name) }

    private func inventory(_ environment: [String: String] = [:]) -> [CassetteFile] {
        CassetteInventory(package: URL(fileURLWithPath: self.folder.path), environment: environment).cassettes()
    }

    @Test func cassettesOfThePackageAreFound() throws {
        for name in [
            "Cassettes/b.json", "Tests/ShopTests/Cassettes/a/b/c.json", "Cassettes/b.bodies/x.json", ".build/Cassettes/a.json",
            "Inner/Package.swift", "Inner/Cassettes/a.json", "Tests/other.json", "Cassettes/read.me", "Package.swift",
        ] { try self.write(Self.cassette, to: name) }
        let found = self.inventory()
        #expect(found.map(\.name) == ["Cassettes/b.json", "Tests/ShopTests/Cassettes/a/b/c.json"])
        #expect(found.first?.size == 2 * Self.cassette.utf8.count)
    }

    @Test func namedFolderIsAdded() throws {
        try self.write(Self.cassette, to: "named/a.json")
        #expect(self.inventory().isEmpty)
        #expect(self.inventory(["WIRETAPE_CASSETTES": "\(self.folder.path)/named"]).map(\.name) == ["named/a.json"])
    }

    @Test func linksAreNotFollowed() throws {
        try self.write("", to: "Cassettes/read.me")
        try FileManager.default.createSymbolicLink(atPath: "\(self.folder.path)/Cassettes/round", withDestinationPath: "..")
        #expect(self.inventory().isEmpty)
    }

    @Test func contentsAreListed() throws {
        let contents = try #require(CassetteContents(Data(Self.cassette.utf8)))
        #expect(
            contents.listing(name: "a.json") == """
                a.json: 3 exchanges, recorded by ShopTests.Pets/list()
                  1  GET http://pets.test/1  200, 1 byte
                  2  GET http://pets.test/\\u{1B}[2J  failed: dns
                  3  GET http://pets.test/3  200, cut, 20 bytes
                """)
        #expect(contents.recorded == Date(timeIntervalSince1970: 1_795_234_768))
    }

    @Test(arguments: [
        "", "{", "[]", "{\"interactions\": []}", "{\"wiretape\": 3, \"interactions\": []}", "{\"wiretape\": 1}",
        "{\"wiretape\": 1, \"interactions\": [1]}", "{\"wiretape\": 1, \"interactions\": [{\"request\": {\"method\": 1}}]}",
    ]) func damagedOnesAreNamed(text: String) throws {
        try self.write(text, to: "Cassettes/a.json")
        let found = try #require(self.inventory().first)
        let error = #expect(throws: PluginFailure.self) { try found.contents.get() }
        #expect(error?.description.hasPrefix("\"Cassettes/a.json\" is damaged, or not a cassette") == true)
        // The user may want to restore it.
        #expect(CassetteUses.known(Self.nothing).state(of: found) == .unknown)
    }

    @Test func missingOneIsNamed() {
        let file = CassetteFile(URL(fileURLWithPath: "/no/such.json"), name: "such.json")
        #expect(throws: PluginFailure.self) { try file.contents.get() }
    }

    @Test func useIsThatOfTheRun() throws {
        try self.write(Self.cassette, to: "Cassettes/a.json")
        let file = try #require(self.inventory().first)
        let list = Data("{\"cassette\":\"\(self.folder.path)/Cassettes/a.json\",\"test\":\"x\"}\n".utf8)
        let other = Data("{\"cassette\":\"/b.json\"}\n".utf8)
        #expect(try CassetteUses(list: list, tests: "").state(of: file) == .used)
        #expect(try CassetteUses(list: other, tests: "ShopTests.Pets/list()\n").state(of: file) == .skipped)
        // The form in which XCTest lists it.
        #expect(try CassetteUses(list: other, tests: "ShopTests.Pets/list\n").state(of: file) == .skipped)
        #expect(try CassetteUses(list: other, tests: "ShopTests.Pets/other()\n").state(of: file) == .orphaned)
        #expect(try CassetteUses(list: other, tests: "ShopTests.Pets/list()/Pets.swift:7:6\n").state(of: file) == .skipped)
        // The test has used another cassette instead.
        let instead = Data("{\"cassette\":\"/b.json\",\"test\":\"ShopTests.Pets/list()\"}\n".utf8)
        #expect(try CassetteUses(list: instead, tests: "ShopTests.Pets/list()\n").state(of: file) == .orphaned)
        #expect(CassetteUses.unknown("").state(of: file) == .unknown)
        #expect(throws: PluginFailure.self) { try CassetteUses(list: list.dropLast(4), tests: "") }
    }

    @Test func tableHasARowForEach() throws {
        try self.write(Self.cassette, to: "Cassettes/a.json")
        try self.write("{", to: "Cassettes/b.json")
        let now = Date(timeIntervalSince1970: 1_795_234_768 + 3 * 86400)
        #expect(
            CassetteTable.text(self.inventory(), .known(Self.nothing), now: now) == """
                CASSETTE          EXCHANGES  BYTES  AGE     USE       TEST
                Cassettes/a.json  3          \(Self.cassette.utf8.count)    3 days  orphaned  ShopTests.Pets/list()
                Cassettes/b.json  damaged    1      -       unknown   -
                """)
    }

    /// The proxy may use it, or a program that no test runs.
    @Test func cassetteThatNoTestRecordedIsNeverAnOrphan() throws {
        try self.write(Self.cassette.replacingOccurrences(of: "\"test\": \"ShopTests.Pets/list()\", ", with: ""), to: "Cassettes/a.json")
        let file = try #require(self.inventory().first)
        #expect(try CassetteUses(list: Data("{\"cassette\":\"/b.json\"}\n".utf8), tests: "").state(of: file) == .unknown)
    }

    /// `swift test list` knows only the tests that are built, not those of another platform.
    @Test func testInASourceFileThatIsNotBuiltHereIsSkipped() throws {
        try self.write(Self.cassette, to: "Cassettes/a.json")
        try self.write("#if os(macOS)\nstruct Pets { @Test func list() {} }\n#endif", to: "Tests/ShopTests/Pets.swift")
        try self.write("struct Pets { @Test func list() {} }", to: "Inner/Tests/Pets.swift")
        try self.write("", to: "Inner/Package.swift")
        let inventory = CassetteInventory(package: URL(fileURLWithPath: self.folder.path), environment: [:])
        #expect(inventory.sources().count == 1)
        let file = try #require(inventory.cassettes().first)
        let list = Data("{\"cassette\":\"/b.json\"}\n".utf8)
        #expect(try CassetteUses(list: list, tests: "", sources: inventory.sources()).state(of: file) == .skipped)
        #expect(try CassetteUses(list: list, tests: "", sources: ["struct Pets {}", "func list() {}"]).state(of: file) == .orphaned)
    }

    @Test func bodiesGoWithTheirCassetteIntoTheTrash() throws {
        try self.write(Self.cassette, to: "Cassettes/pets/a.json")
        try self.write("x", to: "Cassettes/pets/a.bodies/x")
        try #require(self.inventory().first).move(to: URL(fileURLWithPath: self.folder.file("trash/1")))
        #expect(!self.folder.exists("Cassettes/pets/a.json") && !self.folder.exists("Cassettes/pets/a.bodies"))
        #expect(try self.folder.read("trash/1/Cassettes/pets/a.json") == Array(Self.cassette.utf8))
        #expect(try self.folder.read("trash/1/Cassettes/pets/a.bodies/x") == Array("x".utf8))
    }
}
