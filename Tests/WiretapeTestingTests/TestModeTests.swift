import TapeTestSupport
import Testing
import Wiretape
@testable import WiretapeTesting

struct TestModeTests {
    @Test(arguments: [
        ([:], RecordMode.once), (["CI": "true"], .none), (["CI": "1"], .none), (["CI": ""], .once), (["CI": "false"], .once),
        (["CI": "0"], .once), (["WIRETAPE_MODE": "all", "CI": "true"], .all), (["WIRETAPE_MODE": "none"], .none),
        (["WIRETAPE_MODE": "once", "CI": "1"], .none), (["TEST_RUNNER_CI": "true"], .none),
        (["WIRETAPE_MODE": "new-episodes"], .newEpisodes),
        (["WIRETAPE_MODE": "live"], .passthrough), (["WIRETAPE_MODE": ""], .once),
    ]) func environmentGivesTheMode(environment: [String: String], mode: RecordMode) throws {
        #expect(try TestMode.automatic.recordMode(environment: environment) == mode)
    }

    @Test(arguments: [
        (TestMode.none, RecordMode.none), (.once, .none), (.newEpisodes, .newEpisodes), (.all, .all), (.live, .passthrough),
    ]) func ownModeGoesFirst(own: TestMode, mode: RecordMode) throws {
        #expect(try own.recordMode(environment: ["WIRETAPE_MODE": "nonsense", "CI": "true"]) == mode)
    }

    @Test(arguments: ["nonsense", "None", " once", "passthrough", "newEpisodes", "automatic"]) func otherValuesAreRefused(value: String) {
        let error = #expect(throws: CassetteTestError.self) {
            try TestMode.automatic.recordMode(environment: ["WIRETAPE_MODE": value])
        }
        #expect(error?.code == .badMode)
        #expect(error?.message == "WIRETAPE_MODE is \"\(value)\"; set it to none, once, new-episodes, all or live, or unset it")
    }
}

struct CassetteOptionsTests {
    @Test func whatIsSaidGoesBeforeWhatOthersSay() {
        var settings = Cassette.Settings()
        settings.ignore = ["query:ts"]
        let outer = CassetteOptions(mode: .all, unused: .allow, order: .strict, settings: settings)
        let inner = CassetteOptions(mode: .none)
        let merged = inner.over(outer)
        #expect(merged.mode == .none)
        #expect(merged.unused == .allow)
        #expect(merged.order == .strict)
        #expect(merged.settings?.ignore == ["query:ts"])
        #expect(CassetteOptions().over(outer).mode == .all)
        #expect(CassetteOptions(unused: .fail).over(outer).unused == .fail)
        #expect(CassetteOptions(order: .any).over(outer).order == .any)
    }
}

struct CassetteTestErrorTests {
    @Test func isReadAsItsMessage() {
        let error = CassetteTestError(.badMode, "what to do")
        #expect("\(error)" == "what to do")
        #expect("\(error.code)" == "badMode")
        #expect(error.code != .badName)
    }
}

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

struct TestPlanTests {
    private static let environment = ["WIRETAPE_CASSETTES": "/tmp/Cassettes", "WIRETAPE_MODE": "all"]

    @Test func saysWhatIsLeftUnsaid() throws {
        let plan = try TestPlan(CassetteName("pets/upload"), CassetteOptions(), source: "", environment: Self.environment)
        #expect(plan.path == "/tmp/Cassettes/pets/upload.json")
        #expect(plan.mode == .all)
        #expect(!plan.isModeFixed)
        #expect(plan.unused == .fail)
        #expect(plan.settings.order == .any)
    }

    @Test func orderGoesBeforeTheSettings() throws {
        var settings = Cassette.Settings()
        settings.order = .strict
        settings.ignore = ["query:ts"]
        for (order, wanted) in [(nil, ReplayOrder.strict), (.any, .any)] as [(ReplayOrder?, ReplayOrder)] {
            let options = CassetteOptions(mode: .once, unused: .allow, order: order, settings: settings)
            let plan = try TestPlan(CassetteName("a"), options, source: "", environment: Self.environment)
            #expect(plan.settings.order == wanted)
            #expect(plan.settings.ignore == ["query:ts"])
            #expect(plan.unused == .allow)
            #expect(plan.mode == .once)
            #expect(plan.isModeFixed)
        }
    }
}
