import Testing
import Wiretape

@testable import WiretapeTesting

/// The cassettes are next to this file.
struct WithCassetteTests {
    @Test(arguments: [1, 2]) func argumentNamesTheCassette(page: Int) async throws {
        let text = try await withCassette("with/page-\(page)", mode: .none) {
            try await Exchanges.ask(Cassette.current?.transport, page: page)
        }
        #expect(text == "\(page)")
    }

    @Test func unusedExchangeIsAnIssueOfTheTest() async throws {
        let found = try await issues { try await withCassette("with/page-1", mode: .none) {} }
        #expect(found.count == 1)
        #expect(found.first?.contains("unused: exchange 1") == true)
        let allowed = try await issues { try await withCassette("with/page-1", mode: .none, unused: .allow) {} }
        #expect(allowed.count == 1)
        #expect(allowed.first?.hasPrefix("no request reached the cassette \"with/page-1\"") == true)
        #expect(allowed.first?.hasSuffix("no failure") == true)
    }

    @Test func outsideOfTestsItIsThrown() async throws {
        // A detached task belongs to no test.
        let error = await Task.detached {
            await #expect(throws: CassetteTestError.self) { try await withCassette("with/page-1", mode: .none) {} }
        }.value
        #expect(error?.code == .notClean)
        let text = try await Task.detached {
            try await withCassette("with/page-1", mode: .none) { try await Exchanges.ask(Cassette.current?.transport, page: 1) }
        }.value
        #expect(text == "1")
    }

    @Test func cassetteThatCannotBeOpenedIsThrown() async {
        await #expect(throws: CassetteTestError.self) { try await withCassette("../x") {} }
        await #expect(throws: CassetteError.self) { try await withCassette("with/none", mode: .none) {} }
    }
}
