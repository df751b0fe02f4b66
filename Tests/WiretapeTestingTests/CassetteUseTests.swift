import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape
@testable import WiretapeTesting

struct CassetteUseTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func use(
        _ mode: TestMode, unused: UnusedRule = .fail, order: ReplayOrder? = nil, name: String = "pets/list",
        scopes: CassetteScopes = CassetteScopes()
    ) throws -> CassetteUse {
        let options = CassetteOptions(mode: mode, unused: unused, order: order)
        return try CassetteUse(
            TestPlan(CassetteName(name), options, source: "", environment: ["WIRETAPE_CASSETTES": self.folder.path]), scopes: scopes)
    }

    /// Records a page through the use's cassette, from a stub.
    private func record(_ page: Int, with use: CassetteUse) async throws {
        let stub = StubTransport { _ in .text("new \(page)") }
        #expect(try await Exchanges.ask(RecordingTransport(use.cassette, around: stub), page: page) == "new \(page)")
    }

    private var text: String { get throws { try String(contentsOfFile: "\(self.folder.path)/pets/list.json", encoding: .utf8) } }

    @Test func replayOfEverythingIsClean() async throws {
        try self.folder.write(Exchanges.cassette(2), to: "pets/list.json")
        let use = try self.use(.none)
        #expect(try await Exchanges.ask(use.cassette.transport, page: 2) == "2")
        #expect(try await Exchanges.ask(use.cassette.transport, page: 1) == "1")
        #expect(use.end(failed: false).problem == nil)
        #expect(try self.text == Exchanges.cassette(2))
    }

    /// Code with a URLSession of its own bypasses the cassette: the test ran live, and passed.
    @Test func replayThatNoRequestReachedFailsUnlessThatIsAllowed() throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        for mode in [TestMode.none, .once] {
            let ending = try self.use(mode).end(failed: false)
            #expect(ending.problem?.hasPrefix("no request reached the cassette \"pets/list\"") == true)
            #expect(
                ending.problem?.contains("give it URLSession(configuration: URLSessionConfiguration.recording(Cassette.current!))") == true)
            #expect(ending.warning == nil)
            let allowed = try self.use(mode, unused: .allow).end(failed: false)
            #expect(allowed.problem == nil)
            #expect(allowed.warning?.contains("no request reached") == true)
            #expect(try self.use(mode).end(failed: true).problem == nil, "it may not have come that far")
        }
    }

    @Test(arguments: [TestMode.once, .newEpisodes, .all, .live]) func liveTestThatReachesNoCassetteWarns(mode: TestMode) throws {
        let ending = try self.use(mode).end(failed: false)
        #expect(ending.problem == nil)
        #expect(ending.warning?.contains("URLSessionConfiguration.recording(Cassette.current!)") == true)
    }

    @Test func anyRequestReachesTheCassette() async throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        let miss = try self.use(.none)
        await #expect(throws: TransportFailure.self) { try await Exchanges.ask(miss.cassette.transport, page: 3) }
        #expect(miss.end(failed: false).problem?.contains("no request reached") == false)
        let refused = CassetteScopes()
        let escaped = try self.use(.none, scopes: refused)
        _ = await HTTPSession(transport: EscapedTransport(scopes: refused, reason: .unknown)).request("http://pets.test/1")
            .serializingString().response
        #expect(escaped.end(failed: false).problem?.contains("no request reached") == false, "the refusal says more")
        let options = CassetteOptions(mode: .none, unused: .allow, stubs: [.init(path: "/2") { _ in .text("stub") }])
        let stubbed = try CassetteUse(
            TestPlan(CassetteName("pets/list"), options, source: "", environment: ["WIRETAPE_CASSETTES": self.folder.path]))
        #expect(try await Exchanges.ask(stubbed.cassette.transport, page: 2) == "stub")
        #expect(stubbed.end(failed: false).warning == nil)
    }

    /// A client that gives up at a fault that passes fails its test, if the test asks for a verdict.
    @Test(arguments: [nil, VerdictRule.client], [1, 2]) func theVerdictOnTheClientFailsTheTest(verdict: VerdictRule?, attempts: Int)
        async throws
    {
        let options = CassetteOptions(
            mode: .once, modify: [.fault(.status(503), first: 1), .respond(body: "ok")], verdict: verdict)
        let use = try CassetteUse(
            TestPlan(CassetteName("pets/verdict"), options, source: "", environment: ["WIRETAPE_CASSETTES": self.folder.path]),
            scopes: CassetteScopes())
        var configuration = HTTPSession.Configuration()
        configuration.clock = .immediate
        let session = HTTPSession(cassette: use.cassette, configuration: configuration)
        for number in 0..<attempts {
            if number > 0 { try await configuration.clock.sleep(for: .seconds(1)) }
            _ = await session.request("http://pets.test/1").serializingData().response
        }
        let problem = use.end(failed: false).problem
        #expect((problem != nil) == (verdict != nil && attempts == 1))
        #expect(
            problem?.contains("client: GET http://pets.test/1 was not sent again after an answer 503, which may pass (likely).") != false)
    }

    @Test func theVerdictOfATestGoesBeforeThatOfItsSuite() throws {
        var settings = Cassette.Settings()
        settings.verdict = .client(stormCount: 5)
        let environment = ["WIRETAPE_CASSETTES": self.folder.path, "WIRETAPE_MODE": "all"]
        func verdict(_ options: CassetteOptions) throws -> VerdictRule? {
            try TestPlan(CassetteName("a"), options, source: "", environment: environment).settings.verdict
        }
        let suite = CassetteOptions(verdict: .client(stormCount: 7), settings: settings)
        #expect(try verdict(CassetteOptions()) == nil)
        #expect(try verdict(CassetteOptions(settings: settings))?.stormCount == 5)
        #expect(try verdict(CassetteOptions().over(suite))?.stormCount == 7)
        #expect(try verdict(CassetteOptions(verdict: .client).over(suite)) == .client)
    }

    @Test func missFailsWithTheReport() async throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        let use = try self.use(.none)
        await #expect(throws: TransportFailure.self) { try await Exchanges.ask(use.cassette.transport, page: 3) }
        let problem = try #require(use.end(failed: true).problem)
        #expect(problem.contains("replayed 0 of 1 exchange"))
        #expect(problem.contains("miss: no recorded exchange answers \"GET http://pets.test/3\""))
        #expect(!problem.contains("unused:"))
    }

    @Test func unusedExchangeFailsUnlessItIsAllowed() async throws {
        try self.folder.write(Exchanges.cassette(2), to: "pets/list.json")
        for (unused, failed, fails) in [(UnusedRule.fail, false, true), (.allow, false, false), (.fail, true, false)] {
            let use = try self.use(.once, unused: unused)
            #expect(try await Exchanges.ask(use.cassette.transport, page: 1) == "1")
            let problem = use.end(failed: failed).problem
            #expect((problem != nil) == fails)
            guard let problem else { continue }
            #expect(problem.contains("unused: exchange 2, \"GET http://pets.test/2\""))
            #expect(problem.hasSuffix("pass mode: .all; to accept unused exchanges, pass unused: .allow with \"pets/list\""))
        }
    }

    /// A session of its own on a queue would have gone to the network, and the test would have passed.
    @Test func aRequestThatLeavesTheTestIsRefusedAndFailsIt() async throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        let scopes = CassetteScopes()
        let use = try self.use(.none, unused: .allow, scopes: scopes)
        let error = await Task.detached {
            await HTTPSession(transport: EscapedTransport(scopes: scopes, reason: .unknown)).request("http://pets.test/1")
                .serializingString()
                .response.error
        }.value
        #expect(error?.message.contains("was refused: it comes from a task or queue without a cassette while a test uses one") == true)
        let problem = try #require(use.end(failed: false).problem)
        #expect(problem.contains("a request was made without the test's cassette, and refused"))
        #expect(problem.hasSuffix("escapes: .allow:\n  GET \"http://pets.test/1\""))
    }

    @Test func escapedRequestDiscardsTheWholeRecording() async throws {
        let scopes = CassetteScopes()
        let use = try self.use(.once, scopes: scopes)
        try await self.record(1, with: use)
        _ = await HTTPSession(transport: EscapedTransport(scopes: scopes, reason: .late)).request("http://pets.test/2").serializingString()
            .response
        #expect(use.end(failed: false).problem?.contains("pets.test/2") == true)
        #expect(!self.folder.exists("pets/list.json"))
    }

    /// A test that used another test's singleton recorded nothing, and passed.
    @Test func testThatReachesNoCassetteWhileARequestIsRefusedFails() async throws {
        let scopes = CassetteScopes()
        let (maker, user) = (try self.use(.once, scopes: scopes), try self.use(.once, name: "pets/other", scopes: scopes))
        try await self.record(1, with: maker)
        let scope = try #require(scopes.scope(of: maker.cassette))
        _ = await HTTPSession(transport: EscapedTransport(scopes: scopes, reason: .shared(madeIn: "a"), known: [scope]))
            .request("http://pets.test/2").serializingString().response
        #expect(user.end(failed: false).problem?.hasSuffix("may be its own:\n  GET \"http://pets.test/2\"") == true)
        #expect(maker.end(failed: false).problem?.contains("GET \"http://pets.test/2\"") == true)
        #expect(self.folder.files == [])
    }

    /// Otherwise nobody would find the variable to change.
    @Test func theVariableIsNamedWhereItSaysTheMode() async throws {
        let environment = ["WIRETAPE_CASSETTES": self.folder.path, "WIRETAPE_MODE": "none"]
        let plan = try TestPlan(CassetteName("pets/list"), CassetteOptions(), source: "", environment: environment)
        let error = #expect(throws: CassetteError.self) { try CassetteUse(plan) }
        #expect(error?.message.contains("list.json\"; to record \"pets/list\", run the test with WIRETAPE_MODE=once. If nothing") == true)
        try self.folder.write(Exchanges.cassette(2), to: "pets/list.json")
        #expect(
            try CassetteUse(plan).end(failed: false).problem?.contains("run the test with WIRETAPE_MODE=all; to accept unused exchanges")
                == true)
    }

    @Test(arguments: [TestMode.once, .newEpisodes, .all], [TestMode.none, .once, .newEpisodes, .all])
    func cassetteThatATestRecordsIsNotForAnother(mode: TestMode, other: TestMode) async throws {
        let use = try self.use(mode)
        try await self.record(1, with: use)
        let error = #expect(throws: CassetteTestError.self) { try self.use(other) }
        #expect(error?.code == .inUse)
        #expect(use.end(failed: false).problem == nil)
        #expect(try self.use(other, unused: .allow).end(failed: false).problem == nil)
        #expect(try self.use(mode, unused: .allow).end(failed: false).problem == nil)
    }

    @Test func cassettesThatAreReplayedAreForManyAtOnce() throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        let uses = try (0..<3).map { try self.use($0 == 0 ? .none : .once, unused: .allow) }
        for use in uses { #expect(use.end(failed: false).problem == nil) }
    }

    @Test func cassetteThatCannotBeOpenedIsFreeAgain() throws {
        try self.folder.write("no cassette", to: "pets/list.json")
        for _ in 0..<2 { #expect(throws: CassetteError.self) { try self.use(.newEpisodes) } }
    }

    @Test func brokenOrderFails() async throws {
        try self.folder.write(Exchanges.cassette(2), to: "pets/list.json")
        let use = try self.use(.none, unused: .allow, order: .strict)
        await #expect(throws: TransportFailure.self) { try await Exchanges.ask(use.cassette.transport, page: 2) }
        #expect(use.end(failed: false).problem?.contains("order: ") == true)
    }

    @Test func recordingIsReported() async throws {
        let use = try self.use(.all)
        try await self.record(1, with: use)
        try await self.record(2, with: use)
        let ending = use.end(failed: false)
        #expect(ending.problem == nil)
        #expect(ending.recording?.description == "recorded 2 exchanges into \(self.folder.path)/pets/list.json")
        let again = try self.use(.none)
        for page in [1, 2] { _ = try await Exchanges.ask(again.cassette.transport, page: page) }
        #expect(again.end(failed: false).recording == nil)
        let failed = try self.use(.all)
        try await self.record(1, with: failed)
        #expect(failed.end(failed: true).recording == nil)
    }

    @Test func onCINothingIsRecordedAndTheErrorSaysSo() throws {
        for (mode, advice) in [
            (TestMode.automatic, "run the test with WIRETAPE_MODE=once"), (.once, "pass mode: .once"), (.none, "pass mode: .once"),
        ] {
            for variable in ["CI", "TEST_RUNNER_CI"] {
                let environment = ["WIRETAPE_CASSETTES": self.folder.path, variable: "true"]
                let plan = try TestPlan(CassetteName("pets/list"), CassetteOptions(mode: mode), source: "", environment: environment)
                let error = #expect(throws: CassetteError.self) { try CassetteUse(plan) }
                #expect(
                    error?.message.contains(
                        "to record \"pets/list\", \(advice) on a machine where CI is not set, and commit the cassette. If nothing is recorded there, the code under test has a URLSession of its own: give it URLSession(configuration: URLSessionConfiguration.recording(Cassette.current!))"
                    ) == true)
            }
        }
        #expect(self.folder.files == [])
    }

    @Test func aTestWithoutRequestsLeavesNoCassette() throws {
        let use = try self.use(.once)
        let ending = use.end(failed: false)
        #expect(ending.problem == nil && ending.recording == nil)
        #expect(ending.warning?.hasPrefix("no request reached the cassette \"pets/list\"") == true)
        #expect(!FileManager.default.fileExists(atPath: "\(self.folder.path)/pets/list.json"))
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        #expect(try self.use(.once, unused: .allow).end(failed: false).problem == nil)
        #expect(try self.text == Exchanges.cassette(1))
    }

    @Test func theReportAdvisesWhatATestCanDo() async throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        let environment = ["WIRETAPE_CASSETTES": self.folder.path]
        for (mode, advice) in [(TestMode.automatic, "run the test with WIRETAPE_MODE=new-episodes"), (.once, "pass mode: .newEpisodes")] {
            let options = CassetteOptions(mode: mode, unused: .allow)
            let use = try CassetteUse(TestPlan(CassetteName("pets/list"), options, source: "", environment: environment))
            await #expect(throws: TransportFailure.self) { try await Exchanges.ask(use.cassette.transport, page: 3) }
            let problem = use.end(failed: true).problem
            #expect(problem?.contains("to record it, \(advice)") == true, "\(problem ?? "")")
            #expect(problem?.contains("open the cassette") == false)
        }
    }

    @Test func rulesOfTheSuiteAndTheTestAddUpAndStubsAnswerFirst() async throws {
        try self.folder.write(Exchanges.cassette(1), to: "pets/list.json")
        var settings = Cassette.Settings()
        settings.ignore = ["header:x"]
        let suite = CassetteOptions(
            matching: [.method], ignoring: ["query:ts"], stubs: [.init(path: "/2") { _ in .text("suite") }], settings: settings)
        let test = CassetteOptions(
            mode: .none, matching: [.method, .url], ignoring: [.part("photo").fileName], stubs: [.init(path: "/3") { _ in .text("test") }])
        let plan = try TestPlan(
            CassetteName("pets/list"), test.over(suite), source: "", environment: ["WIRETAPE_CASSETTES": self.folder.path])
        #expect(plan.settings.match == ["method", "url"])
        #expect(plan.settings.ignore == ["header:x", "query:ts", "filename:photo"])
        let use = try CassetteUse(plan)
        var bodies: [String] = []
        for page in [3, 1, 2] { bodies.append(try await Exchanges.ask(use.cassette.transport, page: page)) }
        #expect(bodies == ["test", "1", "suite"])
        #expect(use.cassette.verdict.hits == 1)
        #expect(use.end(failed: false).problem == nil)
    }

    @Test func cassetteThatIsNotThereNamesTheNextStep() {
        let error = #expect(throws: CassetteError.self) { try self.use(.none) }
        #expect(error?.code == .notFound)
        #expect(error?.message.contains("list.json\"; to record \"pets/list\", pass mode: .once. If nothing") == true)
        #expect(self.folder.files == [])
    }

    @Test func damagedCassetteIsNoneToRecordOver() throws {
        try self.folder.write("no cassette", to: "pets/list.json")
        #expect(throws: CassetteError.self) { try self.use(.once) }
        #expect(try self.text == "no cassette")
    }

    @Test(arguments: [TestMode.once, .newEpisodes, .all]) func recordingOfATestThatPassesIsKept(mode: TestMode) async throws {
        let use = try self.use(mode)
        try await self.record(1, with: use)
        #expect(use.end(failed: false).problem == nil)
        #expect(self.folder.files == ["pets/list.json"])
        #expect(try self.text.contains("new 1"))
    }

    @Test(arguments: [TestMode.once, .newEpisodes, .all]) func testThatFailsLeavesNoCassette(mode: TestMode) async throws {
        let use = try self.use(mode)
        try await self.record(1, with: use)
        #expect(use.end(failed: true).problem == nil)
        #expect(self.folder.files == [])
    }

    @Test(arguments: [TestMode.newEpisodes, .all]) func testThatFailsLeavesTheOldCassette(mode: TestMode) async throws {
        try self.folder.write(Exchanges.cassette(2), to: "pets/list.json")
        let use = try self.use(mode)
        try await self.record(3, with: use)
        #expect(use.end(failed: true).problem == nil)
        #expect(self.folder.files == ["pets/list.json"])
        #expect(try self.text == Exchanges.cassette(2))
    }

    @Test func newEpisodesKeepUnusedExchanges() async throws {
        try self.folder.write(Exchanges.cassette(2), to: "pets/list.json")
        let use = try self.use(.newEpisodes)
        try await self.record(3, with: use)
        #expect(use.end(failed: false).problem == nil)
        #expect(try self.text.contains("http://pets.test/2"))
        #expect(try self.text.contains("new 3"))
    }

    @Test func liveNeedsNoCassetteAndWritesNone() async throws {
        let use = try self.use(.live)
        #expect(use.end(failed: false).problem == nil)
        #expect(self.folder.files == [])
    }
}

struct CassetteClaimsTests {
    private let claims = CassetteClaims()

    @Test func recordingClaimIsExclusive() throws {
        let name = try CassetteName("pets/list")
        #expect(try self.claims.claim("/a", of: name, records: { true }))
        for records in [false, true] {
            let error = #expect(throws: CassetteTestError.self) { try self.claims.claim("/a", of: name, records: { records }) }
            #expect(error?.code == .inUse)
            #expect(error?.message.contains("\"pets/list\" is being recorded by another test") == true)
        }
        #expect(try self.claims.claim("/b", of: name, records: { true }))
        self.claims.release("/a")
        #expect(try self.claims.claim("/a", of: name, records: { true }))
    }

    @Test func replayClaimIsShared() throws {
        let name = try CassetteName("a")
        for _ in 0..<2 { #expect(try !self.claims.claim("/a", of: name, records: { false })) }
        #expect(try self.claims.claim("/a", of: name, records: { true }))
    }
}

struct CassetteSnapshotTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func restoreRemovesNewFiles() throws {
        try self.folder.write("old", to: "pets.json")
        try self.folder.write("1", to: "pets.bodies/1.png")
        let snapshot = try #require(CassetteSnapshot(of: self.folder.file("pets.json")))
        try self.folder.write("old and new", to: "pets.json")
        try self.folder.write("2", to: "pets.bodies/2.png")
        try snapshot.restore()
        #expect(self.folder.files == ["pets.bodies/1.png", "pets.json"])
        #expect(try self.folder.read("pets.json") == Array("old".utf8))
        #expect(try self.folder.read("pets.bodies/1.png") == Array("1".utf8))
    }

    @Test func folderOfBodiesThatWasNotThereGoes() throws {
        try self.folder.write("old", to: "pets.json")
        let snapshot = try #require(CassetteSnapshot(of: self.folder.file("pets.json")))
        try self.folder.write("2", to: "pets.bodies/2.png")
        try snapshot.restore()
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func withoutAFileThereIsNothingToRestore() {
        #expect(CassetteSnapshot(of: self.folder.file("pets.json")) == nil)
    }
}

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

    @Test func flawOfTheReplayIsAnIssue() async throws {
        let found = try await self.run { _ = try await Exchanges.ask(Cassette.current?.transport, page: 1) }
        #expect(found.count == 1)
        #expect(found.first?.contains("unused: exchange 2") == true)
    }

    @Test func failedBodyReportsNoUnusedExchanges() async throws {
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

struct FailureWatchTests {
    struct Stop: Error {}

    private func hasFailed(_ body: @escaping @Sendable () async throws -> Void) async throws -> Bool {
        let watch = FailureWatch()
        let test = try #require(Test.current)
        _ = try await issues { try? await watch.watch(test, body) }
        return watch.hasFailed
    }

    @Test func bodyThatPassesHasNotFailed() async throws {
        let failed = try await self.hasFailed {}
        #expect(!failed)
    }

    @Test func failuresThatDoNotThrowAreSeen() async throws {
        let bodies: [@Sendable () async throws -> Void] = [
            { #expect(Bool(false)) },
            { Issue.record("broken") },
            { await Task<Void, Never> { Issue.record("in a task") }.value },
            { await withTaskGroup { group in group.addTask { Issue.record("in a group") } } },
        ]
        for body in bodies {
            let failed = try await self.hasFailed(body)
            #expect(failed)
        }
    }

    @Test func thrownErrorIsSeenAndPassedOn() async throws {
        let watch = FailureWatch()
        let test = try #require(Test.current)
        await #expect(throws: Stop.self) { try await watch.watch(test) { throw Stop() } }
        #expect(watch.hasFailed)
    }

    @Test func knownIssueOrWarningIsNoFailure() async throws {
        let known = try await self.hasFailed { withKnownIssue { Issue.record("known") } }
        #expect(!known)
        let warned = try await self.hasFailed { Issue.record("odd", severity: .warning) }
        #expect(!warned)
    }

    @Test func issuesStillCount() async throws {
        let watch = FailureWatch()
        let test = try #require(Test.current)
        let found = try await issues { try await watch.watch(test) { Issue.record("broken") } }
        #expect(found == ["broken"])
    }
}
