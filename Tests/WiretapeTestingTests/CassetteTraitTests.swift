import Testing
import Wiretape

@testable import WiretapeTesting

struct CassetteTraitTests {
    private static let environment = ["WIRETAPE_CASSETTES": "/c", "WIRETAPE_MODE": "none"]

    private func path(_ traits: [CassetteTrait], _ components: [String]) throws -> String {
        try CassetteTrait.plan(traits, module: "ShopTests", components: components, environment: Self.environment).path
    }

    private static func test(_ name: String? = nil, mode: TestMode = .automatic) -> CassetteTrait {
        let trait: any TestTrait = .cassette(name, mode: mode)
        return trait as! CassetteTrait
    }

    private static func suite(_ name: String? = nil, mode: TestMode = .automatic, unused: UnusedRule? = nil) -> CassetteTrait {
        let trait: any SuiteTrait = .cassettes(name, mode: mode, unused: unused)
        return trait as! CassetteTrait
    }

    @Test func nameOfATestIsItsPath() throws {
        #expect(try self.path([Self.test("pets/upload")], ["Pets", "upload()"]) == "/c/pets/upload.json")
    }

    @Test func testWithoutANameIsNamedAfterItsFunction() throws {
        #expect(try self.path([Self.test()], ["upload()"]) == "/c/upload.json")
        #expect(try self.path([Self.test()], ["Pets", "Deep", "upload(_:)"]) == "/c/Pets/Deep/upload.json")
    }

    @Test func nameOfASuiteIsAFolder() throws {
        #expect(try self.path([Self.suite("pets")], ["Pets", "upload()"]) == "/c/pets/upload.json")
        #expect(try self.path([Self.suite("pets"), Self.test("a/b")], ["Pets", "upload()"]) == "/c/pets/a/b.json")
        #expect(try self.path([Self.suite("pets"), Self.test()], ["Pets", "upload()"]) == "/c/pets/upload.json")
    }

    @Test func suiteWithoutANameGivesItsOwn() throws {
        #expect(try self.path([Self.suite()], ["Pets", "upload()"]) == "/c/Pets/upload.json")
        #expect(try self.path([Self.suite(), Self.test("x")], ["Pets", "upload()"]) == "/c/Pets/x.json")
    }

    @Test func settingsOfTheTestGoBeforeThoseOfItsSuites() throws {
        let traits = [Self.suite(mode: .all, unused: .allow), Self.suite(mode: .newEpisodes), Self.test(mode: .once)]
        let plan = try CassetteTrait.plan(traits, module: "ShopTests", components: ["A", "B", "c()"], environment: Self.environment)
        #expect(plan.mode == .once)
        #expect(plan.unused == .allow)
        #expect(
            try CassetteTrait.plan([Self.suite()], module: "ShopTests", components: ["A", "c()"], environment: Self.environment).mode
                == RecordMode.none)
    }

    /// The name is written into the head of the cassette that the test records.
    @Test func planNamesItsTest() throws {
        let plan = try CassetteTrait.plan(
            [Self.test()], module: "ShopTests", components: ["Pets", "list()"], environment: Self.environment)
        #expect(plan.settings.test == "ShopTests.Pets/list()")
    }

    @Test func badNamesAreRefused() {
        #expect(throws: CassetteTestError.self) { try self.path([Self.test("../x")], ["a()"]) }
        #expect(throws: CassetteTestError.self) { try self.path([Self.suite("/x"), Self.test("a")], ["A", "a()"]) }
    }

    // The tests below run with the traits themselves; the cassettes are next to this file.

    @Test(.cassette("trait/one", mode: .none)) func traitGivesTheCassette() async throws {
        #expect(Cassette.current?.path.hasSuffix("/WiretapeTestingTests/Cassettes/trait/one.json") == true)
        #expect(try await Exchanges.ask(Cassette.current?.transport, page: 1) == "1")
    }

    /// Each has a recording of the same request, so no test can get the answer of another.
    @Test(.cassette("trait/pages", mode: .none), arguments: [1, 2]) func eachArgumentHasItsCassette(page: Int) async throws {
        #expect(Cassette.current?.path.hasSuffix("/WiretapeTestingTests/Cassettes/trait/pages/\(page).json") == true)
        #expect(try await Exchanges.ask(Cassette.current?.transport, page: 1) == "\(page)")
    }

    @Test func withoutATraitThereIsNone() { #expect(Cassette.current == nil) }

    @Test func cassetteThatCannotBeOpenedFailsTheTestWithoutItsBody() async throws {
        var test = try #require(Test.current)
        for (trait, text) in [(Self.test("../x"), "leads out"), (Self.test("trait/none", mode: .none), "mode: .once")] {
            test.traits = [trait]
            let found = try await issues { [test] in
                try await trait.provideScope(for: test, testCase: nil) { Issue.record("the body ran") }
            }
            #expect(found.count == 1)
            #expect(found.first?.contains(text) == true)
        }
    }

    @Suite(.cassettes("trait", mode: .none)) struct Inherited {
        @Test func one() async throws {
            #expect(try await Exchanges.ask(Cassette.current?.transport, page: 1) == "1")
        }

        @Test(.cassette("two", unused: .allow)) func ownNameBelowTheFolder() async throws {
            #expect(Cassette.current?.path.hasSuffix("/Cassettes/trait/two.json") == true)
            #expect(Cassette.current?.mode == RecordMode.none)
        }

        @Suite struct Deep {
            @Test func one() async throws {
                #expect(Cassette.current?.path.hasSuffix("/Cassettes/trait/Deep/one.json") == true)
                #expect(try await Exchanges.ask(Cassette.current?.transport, page: 1) == "1")
            }
        }
    }

    @Suite(.cassettes(mode: .none, unused: .allow)) struct Unnamed {
        @Test func one() { #expect(Cassette.current?.path.hasSuffix("/Cassettes/CassetteTraitTests/Unnamed/one.json") == true) }
    }
}
