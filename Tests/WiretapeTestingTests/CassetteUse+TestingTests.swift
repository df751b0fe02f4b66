import TapeTestSupport
import Testing
import Wiretape

@testable import WiretapeTesting

struct CassetteUseTestingTests {
    struct Stop: Error {}

    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func use() throws -> CassetteUse {
        try self.folder.write(Exchanges.cassette(2), to: "a.json")
        let options = CassetteOptions(mode: .none)
        return try CassetteUse(TestPlan(CassetteName("a"), options, source: "", environment: ["WIRETAPE_CASSETTES": self.folder.path]))
    }

    private func run(_ body: @escaping @Sendable () async throws -> Void) async throws -> [String] {
        let use = try self.use()
        let test = try #require(Test.current)
        return try await issues { try await use.run(test, sourceLocation: #_sourceLocation, body) }
    }

    @Test func bodyHasTheCassette() async throws {
        let found = try await self.run {
            for page in 1...2 {
                let text = try await Exchanges.ask(Cassette.current?.transport, page: page)
                #expect(text == "\(page)")
            }
        }
        #expect(found == [])
        #expect(Cassette.current == nil)
    }

    @Test func whatIsAgainstTheReplayIsAnIssue() async throws {
        let found = try await self.run { _ = try await Exchanges.ask(Cassette.current?.transport, page: 1) }
        #expect(found.count == 1)
        #expect(found.first?.contains("unused: exchange 2") == true)
    }

    @Test func bodyThatFailsIsNotToldWhatItDidNotAskFor() async throws {
        let found = try await self.run { Issue.record("broken") }
        #expect(found == ["broken"])
    }

    @Test func thrownErrorPasses() async throws {
        let use = try self.use()
        let test = try #require(Test.current)
        await #expect(throws: Stop.self) { try await use.run(test, sourceLocation: #_sourceLocation) { throw Stop() } }
    }

    @Test func cancelledTestIsNotJudged() async throws {
        let use = try self.use()
        let test = try #require(Test.current)
        let found = try await issues {
            let task = Task {
                try await use.run(test, sourceLocation: #_sourceLocation) { withUnsafeCurrentTask { $0?.cancel() } }
            }
            try await task.value
        }
        #expect(found == [])
    }
}
