import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape
@testable import WiretapeTesting

struct ModulePathsTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func path(_ module: String, paths: ModulePaths = ModulePaths(), name: String = "Pets/list") throws -> String {
        let path = paths.path(try CassetteName(name), in: self.folder.path, module: module)
        return String(path.dropFirst(self.folder.path.utf8.count + 1))
    }

    private func use(_ module: String, _ mode: TestMode, isNamedAfterTest: Bool = true) throws -> CassetteUse {
        try CassetteUse(
            TestPlan(
                CassetteName("Pets/list"), CassetteOptions(mode: mode, unused: .allow),
                for: TestIdentity(module: module, name: "Pets/list()"),
                isNamedAfterTest: isNamedAfterTest, source: "", environment: ["WIRETAPE_CASSETTES": self.folder.path]))
    }

    private func record(_ text: String, with use: CassetteUse) async throws {
        let stub = StubTransport { _ in .text(text) }
        #expect(try await Exchanges.ask(RecordingTransport(use.cassette, around: stub), page: 1) == text)
        #expect(use.end(failed: false).problem == nil)
    }

    @Test func eachModuleRecordsAndFindsItsOwn() async throws {
        for module in ["ATests", "BTests"] { try await self.record(module, with: self.use(module, .once)) }
        #expect(self.folder.exists("Pets/list.json") && self.folder.exists("BTests/Pets/list.json"))
        for module in ["BTests", "ATests"] {
            let use = try self.use(module, .none)
            #expect(try await Exchanges.ask(use.cassette.transport, page: 1) == module)
            #expect(use.end(failed: false).problem == nil)
        }
        // A module keeps its files, whichever module comes first.
        try await self.record("new B", with: self.use("BTests", .all))
        let use = try self.use("ATests", .none)
        #expect(try await Exchanges.ask(use.cassette.transport, page: 1) == "ATests")
        #expect(use.end(failed: false).problem == nil)
    }

    /// Also after the other module's file is gone.
    @Test func moduleKeepsItsFile() async throws {
        for module in ["ATests", "BTests"] { try await self.record(module, with: self.use(module, .once)) }
        try self.folder.write(Exchanges.cassette(1), to: "Pets/list.json")
        #expect(try self.path("BTests") == "BTests/Pets/list.json")
        try FileManager.default.removeItem(atPath: "\(self.folder.path)/Pets/list.json")
        #expect(try self.path("BTests") == "BTests/Pets/list.json")
        #expect(try self.path("ATests") == "Pets/list.json")
    }

    @Test func headNamesTheTest() async throws {
        try await self.record("x", with: self.use("ATests", .once))
        let text = try String(contentsOfFile: "\(self.folder.path)/Pets/list.json", encoding: .utf8)
        #expect(text.contains("\n  \"test\": \"ATests.Pets/list()\",\n"))
    }

    /// Both begin before either has written anything.
    @Test func concurrentRecordingsDoNotShareAFile() async throws {
        let paths = ModulePaths()
        #expect(try self.path("BTests", paths: paths) == "Pets/list.json")
        #expect(try self.path("ATests", paths: paths) == "ATests/Pets/list.json")
        #expect(try self.path("BTests", paths: paths) == "Pets/list.json")
        #expect(try self.path("ATests", paths: paths, name: "Pets/other") == "Pets/other.json")
    }

    /// Files of an older version, files of the proxy, and damaged files, which fail once they are opened.
    @Test(arguments: [Exchanges.cassette(1), "no cassette", "", "{\"wiretape\": 1, \"test\": 1, \"interactions\": []}"])
    func fileWithoutAnOwnerBelongsToAll(text: String) throws {
        try self.folder.write(text, to: "Pets/list.json")
        for module in ["ATests", "BTests"] { #expect(try self.path(module) == "Pets/list.json") }
    }

    /// A suite's folder can have the same name as a module.
    @Test func folderOfASuiteIsNotThatOfAModule() throws {
        try self.folder.write(Exchanges.cassette(1), to: "Pets/list.json")
        try self.folder.write(Exchanges.cassette(2), to: "ATests/Pets/list.json")
        #expect(try self.path("ATests") == "Pets/list.json")
    }

    @Test func nameThatIsGivenIsShared() async throws {
        try await self.record("x", with: self.use("ATests", .once, isNamedAfterTest: false))
        let use = try self.use("BTests", .none, isNamedAfterTest: false)
        #expect(try await Exchanges.ask(use.cassette.transport, page: 1) == "x")
        #expect(use.end(failed: false).problem == nil)
    }
}

struct CassetteUseListTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func plan(list: String) throws -> TestPlan {
        try TestPlan(
            CassetteName("pets/list"), CassetteOptions(mode: .none, unused: .allow), for: TestIdentity(module: "ATests", name: "list()"),
            source: "", environment: ["WIRETAPE_CASSETTES": self.folder.path, "WIRETAPE_USED_CASSETTES": list])
    }

    @Test func eachUseIsALine() throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        let list = "\(self.folder.path)/used"
        for _ in 0..<2 { _ = try CassetteUse(self.plan(list: list)).end(failed: false) }
        let line = "{\"cassette\":\"\(self.folder.path)/pets/list.json\",\"test\":\"ATests.list()\"}\n"
        #expect(try String(contentsOfFile: list, encoding: .utf8) == line + line)
    }

    /// A use that is missing from the list would make its cassette look unused.
    @Test func listThatCannotBeWrittenFailsTheTest() throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        let error = #expect(throws: CassetteError.self) { try CassetteUse(self.plan(list: "\(self.folder.path)/no/such/used")) }
        #expect(error?.message.contains("which cannot be written") == true)
    }
}
