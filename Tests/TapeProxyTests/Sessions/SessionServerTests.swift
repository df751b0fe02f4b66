import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
@testable import TapeProxy
import TapeTestSupport
import Testing

@Suite struct SessionServerTests {
    @Test(arguments: ["0.0.0.0", "::", "192.0.2.1", "example.com"]) func sessionsAreForThisMachineAlone(_ host: String) throws {
        let folder = try TemporaryFolder()
        let configuration = SessionServerConfiguration(host: host, folder: try CassetteFolder(folder.path), version: "1")
        let error = #expect(throws: ProxyError.self) { try SessionServer.start(configuration) }
        #expect(error?.code == .remoteNotAllowed)
    }

    @Test func requestsWithoutASessionAreNotHandled() throws {
        let running = try RunningSessions(loops: 2)
        let unauthenticatedContexts = try running.server.sessionLoops.map { stage in
            [
                stage.unauthenticated.session.mayForward, stage.unauthenticated.session.looksUp, stage.unauthenticated.recorder != nil,
                stage.unauthenticated.library != nil,
            ]
        }
        #expect(unauthenticatedContexts == [[false, false, false, false], [false, false, false, false]])
    }

    @Test func aPortInUseIsReported() throws {
        let running = try RunningSessions()
        let configuration = SessionServerConfiguration(port: running.port, folder: running.server.configuration.folder, version: "1")
        let error = #expect(throws: ProxyError.self) { try SessionServer.start(configuration) }
        #expect(error?.code == .cannotListen)
    }

    @Test func aStopClosesEveryCassetteAndReplacesNone() throws {
        let running = try RunningSessions()
        let old = RunningSessions.cassette("http://origin.test/", "old")
        try running.folder.write(old, to: "old.json")
        let origin = try RawOrigin.numbered(2)
        let url = "http://\(origin.authority)/"
        let new = try running.server.open(SessionOrder(cassette: "new.json"))
        let replacing = try running.server.open(SessionOrder(cassette: "old.json", mode: .all))
        for session in [new, replacing] { _ = try running.get(url, as: session) }
        let reports = running.stop()
        origin.finish()
        #expect(reports.map(\.name) == [new.name, replacing.name])
        #expect(reports.allSatisfy { !$0.isOpen && $0.recorder?.recorded == 1 && $0.problem == nil })
        #expect(try running.folder.read("old.json") == old, "nobody has said that the new one is whole")
        #expect(try RecordedExchanges.read(running.folder.file("old.new.json")).count == 1)
        #expect(try RecordedExchanges.read(running.folder.file("new.json")).count == 1)
    }

    /// The second answer reveals a secret that is in the first one. A close searches that one again if there is time.
    @Test(arguments: [false, true]) func hastenedStopLosesNothingAndNamesUnsearchedExchanges(isHastened: Bool) throws {
        let running = try RunningSessions()
        let secret = "hunter2-hunter2-77"
        let origin = try RawOrigin { connection in
            for body in [#"{"note": "it is \#(secret)"}"#, #"{"password": "\#(secret)"}"#] {
                _ = try connection.read(through: "\r\n\r\n")
                try connection.send(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let session = try running.server.open(SessionOrder(cassette: "a.json"))
        if isHastened { running.server.hasten() }
        for _ in 1...2 { _ = try running.get("http://\(origin.authority)/", as: session) }
        let report = try #require(running.stop().first)
        origin.finish()
        #expect(report.recorder?.recorded == 2 && report.recorder?.lost == 0 && report.problem == nil)
        #expect(report.recorder?.unsearchedExchanges.first?.id == (isHastened ? 1 : nil))
        #expect(try RecordedExchanges.read(running.folder.file("a.json")).count == 2)
        #expect(String(decoding: try running.folder.read("a.json"), as: UTF8.self).contains(secret) == isHastened)
    }

    @Test func thereAreNoMoreThanTheLimit() throws {
        let running = try RunningSessions()
        // Each has a recorder, which has a thread, and a port.
        for number in 0..<SessionServer.sessionLimit {
            _ = try running.server.open(SessionOrder(cassette: "\(number).json", wantsPort: true))
        }
        let error = #expect(throws: SessionError.self) { try running.server.open(SessionOrder(cassette: "one-more.json")) }
        #expect(error?.code == .tooMany)
        let reports = running.stop()
        #expect(reports.count == SessionServer.sessionLimit && reports.allSatisfy { $0.problem == nil })
    }

    /// However a client spells the loopback address, with or without the token.
    @Test(arguments: [
        "127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1", "0x7f.1", "[::ffff:127.0.0.1]", "127.9.9.9", "LOCALHOST",
        "[::]",
    ])
    func theControlAPIIsNotReachedThroughASession(_ host: String) throws {
        let running = try RunningSessions()
        let session = try running.server.open(SessionOrder(cassette: "a.json", wantsPort: true))
        let port = try #require(session.port)
        let fields = ["Authorization: Bearer \(RunningSessions.token)"]
        for target in [running.controlPort, running.port, port] {
            let url = "http://\(host):\(target)/sessions"
            #expect(try running.get(url, as: session, fields: fields).hasPrefix("HTTP/1.1 508 "), "\(url)")
            #expect(try running.get(url, credentials: nil, port: port, fields: fields).hasPrefix("HTTP/1.1 508 "), "\(url)")
        }
        let client = try RawConnection(port: port)
        try client.send("CONNECT \(host):\(running.controlPort) HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 508 "))
    }

    @Test func aPortThatASessionGaveBackIsAnOriginsAgain() throws {
        let running = try RunningSessions()
        let session = try running.server.open(SessionOrder(cassette: "a.json", wantsPort: true))
        let port = try #require(session.port)
        let ownPorts = running.server.loops.shared.ownPorts
        #expect(ownPorts.rule(for: port) != nil)
        _ = try running.server.end(session.name, keepsOld: false)
        // Not checked over a socket: another program may have the port by now, and be a proxy as well.
        #expect(ownPorts.rule(for: port) == nil)
        // However late it is asked for.
        #expect(session.port == port)
    }
}

@Suite struct CassetteFolderTests {
    private let temporary: TemporaryFolder
    private let folder: CassetteFolder

    init() throws {
        self.temporary = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: self.temporary.file("in/shop"), withIntermediateDirectories: true)
        try self.temporary.write([], to: "outside.json")
        self.folder = try CassetteFolder(self.temporary.file("in"))
    }

    @Test(arguments: ["pets.json", "shop/pets.json", "보리.json", "a b.json"]) func namesInsideAreTaken(_ name: String) throws {
        #expect(try self.folder.cassette(name) == self.folder.path + "/" + name)
    }

    @Test(arguments: [
        "", "/etc/passwd.json", "../outside.json", "shop/../../outside.json", "./pets.json", "shop//pets.json", "shop/./pets.json", "..",
        "pets", "pets.txt", "shop", ".json", ".git/x.json", "shop/.pets.json", "a\0.json", "a\n.json", "a\\b.json", "shop/",
        "shop.json/x.json",
        String(repeating: "x", count: 5000) + ".json", String(repeating: "x", count: 400) + ".json",
    ])
    func namesThatLeadElsewhereAreRefused(_ name: String) throws {
        try self.temporary.write([], to: "in/shop.json")
        let error = #expect(throws: CassetteError.self) { try self.folder.cassette(name) }
        #expect(error?.code == .unsafePath, "\(error?.message ?? "")")
        #expect((error?.message.utf8.count ?? 0) < 2000)
    }

    @Test func linksAreRefusedWithAnyTarget() throws {
        let manager = FileManager.default
        try manager.createSymbolicLink(atPath: self.temporary.file("in/out"), withDestinationPath: self.temporary.path)
        try manager.createSymbolicLink(
            atPath: self.temporary.file("in/link.json"), withDestinationPath: self.temporary.file("outside.json"))
        try manager.createSymbolicLink(
            atPath: self.temporary.file("in/dangling.json"), withDestinationPath: self.temporary.file("new.json"))
        for name in ["out/outside.json", "out/in/pets.json", "link.json", "dangling.json", "out/\u{301}x.json"] {
            let error = #expect(throws: CassetteError.self) { try self.folder.cassette(name) }
            #expect(error?.code == .unsafePath, "\(name)")
        }
    }

    @Test func aFolderWithACassettesNameIsNoCassette() throws {
        try FileManager.default.createDirectory(atPath: self.temporary.file("in/dir.json"), withIntermediateDirectories: false)
        #expect(throws: CassetteError.self) { try self.folder.cassette("dir.json") }
    }

    @Test func aMissingFolderIsReported() throws {
        #expect(throws: CassetteError.self) { try CassetteFolder(self.temporary.file("none")) }
        #expect(throws: CassetteError.self) { try CassetteFolder(self.temporary.file("outside.json")) }
        let error = #expect(throws: CassetteError.self) { try self.folder.cassette("none/pets.json") }
        #expect(error?.code == .notFound && error?.message.contains("create it first") == true)
    }

    @Test func theFolderItselfMayBeALink() throws {
        try FileManager.default.createSymbolicLink(atPath: self.temporary.file("alias"), withDestinationPath: "in")
        #expect(try CassetteFolder(self.temporary.file("alias")) == self.folder)
    }
}

@Suite struct SessionServerOpeningTests {
    private let url = "http://origin.test/pets"

    /// One exchange whose text has one part replaced.
    private func cassette(_ part: String, _ other: String) -> [UInt8] {
        let text = String(decoding: RunningSessions.cassette(self.url, "boris"), as: UTF8.self)
        return Array(text.replacingOccurrences(of: part, with: other).utf8)
    }

    @Test func aSessionIsAsItWasOrdered() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette(self.url, "boris"), to: "a.json")
        let session = try running.server.open(
            SessionOrder(
                cassette: "a.json", mode: .none,
                settings: .session {
                    $0[Settings.repetition] = .session(.last)
                    $0[Settings.order] = .session(.strict)
                    $0[Settings.latency] = .session(.fixed(7))
                    $0[Settings.refreshDates] = .session(true)
                    $0[Settings.refreshFields] = [.session("json:/at")]
                }))
        #expect(session.session.mode == .none && session.session.repetition == .last && session.session.order == .strict)
        let configuration = session.common.configuration
        #expect(
            configuration.latency == .fixed(7) && configuration.refresh != nil
                && configuration.refresh == session.parts.cassette.plan.refresh)
        #expect(session.report().failOn.flaws == [.miss, .order], "strict order fails on order")
    }

    @Test func rulesOfTheOrderLieOverThoseOfTheProcessAndTheCassette() throws {
        let running = try RunningSessions {
            $0.settings = { _ in .session { $0[Settings.ignore] = [Setting(value: "query:process", source: .commandLine)] } }
        }
        try running.folder.write(
            self.cassette(#""interactions""#, #""match": { "ignore": ["query:own"] }, "interactions""#), to: "a.json")
        let order = SessionOrder(
            cassette: "a.json", mode: .none,
            settings: .session {
                $0[Settings.ignore] = [.session("query:ordered")]
                $0[Settings.repetition] = .session(.last)
            })
        let session = try running.server.open(order)
        for query in ["own=1", "process=1", "ordered=1", "own=2&process=2&ordered=2"] {
            #expect(try running.get("\(self.url)?\(query)", as: session).hasSuffix("\r\n\r\nboris"), "\(query)")
        }
        #expect(try running.get("\(self.url)?other=1", as: session).hasPrefix("HTTP/1.1 424 "))
    }

    @Test func aReplayOfARedactedCassetteRedactsLiveRequests() throws {
        let running = try RunningSessions()
        let origin = try RawOrigin.numbered(1)
        let url = "http://\(origin.authority)/pets"
        let rules = RunSettings.session {
            $0[Settings.match] = .session(["method", "url", "header:X-Shop"])
            $0[Settings.redact] = [.session("header:x-shop=[0-9]+")]
        }
        let recording = try running.server.open(SessionOrder(cassette: "a.json", settings: rules))
        let answer = try running.get(url, as: recording, fields: ["X-Shop: till 4711"])
        _ = try running.server.end(recording.name, keepsOld: false)
        origin.finish()
        #expect(!String(decoding: try running.folder.read("a.json"), as: UTF8.self).contains("4711"))
        let replay = try running.server.open(SessionOrder(cassette: "a.json", mode: .none))
        #expect(try running.get(url, as: replay, fields: ["X-Shop: till 4711"]) == answer)
        #expect(try running.get(url, as: replay, fields: ["X-Shop: other"]).hasPrefix("HTTP/1.1 424 "))
    }

    @Test func secretsOfTheEnvironmentAreTakenOutAndMissingOnesTold() throws {
        let running = try RunningSessions { $0.secret = { $0 == "TILL" ? Array("hush-4711-hush".utf8) : nil } }
        let origin = try RawOrigin.numbered(1)
        let order = SessionOrder(
            cassette: "a.json", settings: .session { $0[Settings.secretEnv] = [.session("TILL"), .session("NONE")] })
        let session = try running.server.open(order)
        #expect(session.parts.notices.count == 1 && session.parts.notices[0].contains("\"NONE\""))
        _ = try running.get("http://\(origin.authority)/hush-4711-hush", as: session)
        _ = try running.server.end(session.name, keepsOld: false)
        origin.finish()
        #expect(!String(decoding: try running.folder.read("a.json"), as: UTF8.self).contains("hush-4711"))
    }

    @Test func secretsStayWhereThatIsOrdered() throws {
        let running = try RunningSessions()
        let origin = try RawOrigin.numbered(1)
        let session = try running.server.open(
            SessionOrder(cassette: "a.json", settings: .session { $0[Settings.redaction] = .session(false) }))
        _ = try running.get("http://\(origin.authority)/", as: session, fields: ["Authorization: Bearer hush-4711-hush"])
        _ = try running.server.end(session.name, keepsOld: false)
        origin.finish()
        #expect(String(decoding: try running.folder.read("a.json"), as: UTF8.self).contains("hush-4711"))
    }

    @Test func aCassetteThatIsTooOldIsReportedRefusedOrRecordedAgain() throws {
        let running = try RunningSessions()
        let old = self.cassette("2026-11-21T04:19:28", "2001-01-01T00:00:00")
        try running.folder.write(old, to: "a.json")
        func settings(_ policy: ExpiryPolicy?) throws -> RunSettings {
            let age = try Age("30d")
            return .session {
                $0[Settings.maxAge] = .session(age)
                $0[Settings.onExpired] = policy.map { .session($0) }
            }
        }
        let warned = try running.server.open(SessionOrder(cassette: "a.json", mode: .none, settings: try settings(nil)))
        #expect(warned.parts.notices.first?.hasSuffix("record it again with \"mode\": \"all\".") == true, "\(warned.parts.notices)")
        #expect(warned.report().expiry?.contains("more than the allowed 30 days") == true)
        #expect(throws: RunPlan.Expired.self) {
            try running.server.open(SessionOrder(cassette: "a.json", settings: try settings(.fail)))
        }
        let rerecord = SessionOrder(cassette: "a.json", settings: try settings(.rerecord))
        let error = #expect(throws: SessionError.self) { try running.server.open(rerecord) }
        #expect(error?.code == .cassetteInUse, "another session replays it")
        _ = try running.server.end(warned.name, keepsOld: false)
        let anew = try running.server.open(rerecord)
        #expect(anew.recorder != nil && anew.report().mode == .all)
        #expect(throws: SessionError.self) { try running.server.open(SessionOrder(cassette: "a.json", mode: .none)) }
        _ = try running.server.end(anew.name, keepsOld: false)
        let replay = try running.server.open(SessionOrder(cassette: "a.json", mode: .none, settings: try settings(.rerecord)))
        #expect(replay.recorder == nil && replay.report().expiry != nil, "mode none records nothing")
    }

    @Test func aRecordingThatWouldWriteAnothersFileIsRefused() throws {
        let running = try RunningSessions()
        try running.folder.write(RunningSessions.cassette(self.url, "old"), to: "a.json")
        let session = try running.server.open(SessionOrder(cassette: "a.json", mode: .all))
        // The recording that replaces a.json is written next to it.
        #expect(throws: (any Error).self) { try running.server.open(SessionOrder(cassette: "a.new.json", mode: .newEpisodes)) }
        #expect(throws: SessionError.self) { try running.server.open(SessionOrder(cassette: "a.json", mode: .newEpisodes)) }
        let report = try running.server.end(session.name, keepsOld: false)
        #expect(report.problem == nil)
    }

    @Test func aCassetteBeingRecordedIsExclusive() throws {
        let running = try RunningSessions()
        let session = try running.server.open(SessionOrder(cassette: "a.json"))
        let error = #expect(throws: SessionError.self) { try running.server.open(SessionOrder(cassette: "a.json")) }
        #expect(error?.code == .cassetteInUse)
        _ = try running.server.end(session.name, keepsOld: false)
        try running.folder.write(RunningSessions.cassette(self.url, "old"), to: "a.json")
        let replays = try (0..<2).map { _ in try running.server.open(SessionOrder(cassette: "a.json")) }
        #expect(replays.allSatisfy { $0.session.looksUp && $0.recorder == nil })
    }

    @Test func aFailedOrderLeavesNothing() throws {
        let running = try RunningSessions()
        try running.folder.write(Array("{\"a\": 1}".utf8), to: "odd.json")
        let name = try #require(SessionName("w"))
        for order in [
            SessionOrder(name: name, cassette: "odd.json", mode: .none), SessionOrder(name: name, cassette: "none.json", mode: .none),
            SessionOrder(name: name, cassette: "../x.json"), SessionOrder(name: name, cassette: "odd.json", mode: .all),
            SessionOrder(name: name, cassette: "new.json", settings: .session { $0[Settings.match] = .session(["nonsense"]) }),
            SessionOrder(name: name, cassette: "new.json", settings: .session { $0[Settings.ignore] = [.session("nonsense")] }),
        ] {
            #expect(throws: (any Error).self, "\(order)") { try running.server.open(order) }
        }
        #expect(try running.folder.names() == ["odd.json"])
        #expect(running.server.reports().isEmpty)
        _ = try running.server.open(SessionOrder(name: name, cassette: "good.json"))
    }
}
