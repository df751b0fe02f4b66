import TapeTestSupport
import Testing
import Wiretape
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

    // MARK: Bundles

    private func bundled(_ module: String?, source: String = "/no/such/A.swift", resources: String? = nil) throws -> TestCassetteFolder {
        try TestCassetteFolder(
            forSource: source, module: module, resources: resources.map { "\(self.folder.path)/\($0)" }, environment: [:],
            places: [self.folder.path])
    }

    @Test func resourcesOfTheModuleReplaceTheSources() throws {
        try self.folder.makeFolder("shop_OtherTests.resources/Cassettes")
        try self.folder.makeFolder("shop_ShopTests.resources/Cassettes")
        let found = try self.bundled("ShopTests")
        #expect(found.path == "\(self.folder.path)/shop_ShopTests.resources/Cassettes")
        #expect(found.isBundled)
        #expect(throws: CassetteTestError.self) { try self.bundled("Tests2") }
        #expect(throws: CassetteTestError.self) { try self.bundled(nil) }
    }

    @Test func bundlesOfAllPlatformsAreFound() throws {
        try self.folder.makeFolder("my-shop_Shop-Tests.bundle/Contents/Resources/Cassettes")
        #expect(try self.bundled("Shop_Tests").path.hasSuffix("/my-shop_Shop-Tests.bundle/Contents/Resources/Cassettes"))
        try self.folder.makeFolder("Cassettes")
        #expect(try self.bundled("OtherTests").path == "\(self.folder.path)/Cassettes")
    }

    /// Otherwise nothing could be recorded on the machine that built the bundle.
    @Test func sourcesGoBeforeABundle() throws {
        try self.folder.makeFolder("shop_ShopTests.resources/Cassettes")
        try self.folder.makeFolder("Tests/Cassettes")
        let found = try self.bundled("ShopTests", source: "\(self.folder.path)/Tests/A.swift", resources: "shop_ShopTests.resources")
        #expect(found.path == "\(self.folder.path)/Tests/Cassettes")
        #expect(!found.isBundled)
    }

    @Test func givenBundleIsTheOnlyOne() throws {
        try self.folder.makeFolder("shop_ShopTests.resources/Cassettes")
        try self.folder.makeFolder("given/Cassettes")
        #expect(try self.bundled("ShopTests", resources: "given").path == "\(self.folder.path)/given/Cassettes")
        let error = #expect(throws: CassetteTestError.self) { try self.bundled("ShopTests", resources: "empty") }
        #expect(error?.message.contains("/empty/Cassettes\" in its bundle: give the test target resources") == true)
    }

    @Test(arguments: [(TestMode.none, RecordMode.none), (.once, .none), (.live, .passthrough)])
    func nothingIsRecordedInABundle(mode: TestMode, inEffect: RecordMode) throws {
        try self.folder.makeFolder("Cassettes")
        let options = CassetteOptions(mode: mode, resources: self.folder.path)
        let plan = try TestPlan(CassetteName("pets/list"), options, source: "/no/such/A.swift", environment: [:])
        #expect(plan.mode == inEffect)
        #expect(plan.path == "\(self.folder.path)/Cassettes/pets/list.json")
        guard mode == .once else { return }
        let error = #expect(throws: CassetteError.self) { try CassetteUse(plan) }
        #expect(
            error?.message.hasSuffix("read only: record on a machine that has the sources of the tests, and build the tests again") == true)
    }

    @Test(arguments: [TestMode.all, .newEpisodes]) func modeThatRecordsIsRefusedInABundle(mode: TestMode) throws {
        try self.folder.makeFolder("Cassettes")
        let options = CassetteOptions(mode: mode, resources: self.folder.path)
        let error = #expect(throws: CassetteTestError.self) {
            try TestPlan(CassetteName("pets/list"), options, source: "/no/such/A.swift", environment: [:])
        }
        #expect(error?.code == .readOnly)
        #expect(error?.message.contains("record on a machine that has the sources") == true)
    }
}
