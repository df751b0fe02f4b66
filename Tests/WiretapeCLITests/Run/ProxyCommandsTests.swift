import CassetteStore
import Testing
@testable import WiretapeCLI
import TapeProxy
import TapeTestSupport

/// `record`: the file that is written, and the fate of an existing one.
@Suite struct RecordCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("tapes/pets.json")
    }

    @Test func foldersAreMadeAndTheCassetteReplacedOnSuccess() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "/echo?first", url + "/large")).status == 0)
        #expect(try self.folder.names(in: "tapes/pets.bodies").count == 1)

        let end = try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "/echo?second"))
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("recorded 1 exchange") && end.errors.contains("in \(self.cassette)."), "\(end.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url + "/echo?second"])
        #expect(!(try self.folder.names(in: "tapes").contains("pets.new.json")))
        #expect((try? self.folder.names(in: "tapes/pets.bodies")) ?? [] == [])
        try CassetteFile.expectValid(self.cassette)
    }

    @Test func aFailedCommandLeavesTheOldOneAndSaysWhereTheNewOneIs() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "/echo?first")).status == 0)
        let old = try self.folder.read("tapes/pets.json")

        let end = try Wiretape.run(["record", self.cassette, "--", "sh", "-c", Curl.line(url + "/large") + " >/dev/null; exit 4"])
        #expect(end.status == 4)
        #expect(try self.folder.read("tapes/pets.json") == old)
        let new = self.folder.file("tapes/pets.new.json")
        #expect(end.errors.contains("in \(new); the command failed, so \(self.cassette) is unchanged."), "\(end.errors)")
        #expect(try CassetteFile.urls(new) == [url + "/large"])
        try CassetteFile.expectValid(new)
        origin.program.stop()
        #expect(try Wiretape.run(["replay", new, "--"] + Curl.get(url + "/large")).status == 0)
    }

    @Test func aPortInUseIsReportedAndLeavesNothing() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let listen = ["--listen", "127.0.0.1:\(origin.port)"]
        let end = try Wiretape.run(["record", self.cassette] + listen)
        #expect(end.status == 1)
        #expect(end.errors.contains("cannot listen on \"127.0.0.1:\(origin.port)\" (Address already in use): "), "\(end.errors)")
        #expect(!self.folder.exists("tapes/pets.json"))

        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get("http://127.0.0.1:\(origin.port)/echo")).status == 0)
        #expect(try Wiretape.run(["record", self.cassette] + listen).status == 1)
        #expect(try Wiretape.run(["run", self.cassette, "--mode", "new-episodes"] + listen).status == 1)
        #expect(try CassetteFile.urls(self.cassette) == ["http://127.0.0.1:\(origin.port)/echo"])
        #expect(try self.folder.names(in: "tapes").filter { $0.hasSuffix(".json") } == ["pets.json"])
    }

    @Test func aSecondRecorderIsKeptOut() throws {
        let first = try Wiretape.listening(["record", self.cassette])
        defer { first.program.stop() }
        let end = try Wiretape.run(["run", self.cassette, "--mode", "new-episodes", "--listen", "127.0.0.1:0"])
        #expect(end.status == 1)
        #expect(end.errors.contains("pets.json"), "\(end.errors)")
        #expect(try first.program.end().status == 0)
    }
}

@Suite struct RecordModeArgumentTests {
    @Test func aRunTakesTheModesThatMakeSenseForIt() throws {
        #expect(Settings.mode.row.form == .choice(["once", "new-episodes", "all", "none"]))
        for text in ["passthrough", ""] { #expect(throws: (any Error).self) { try RunCommand.parse(["a.json", "--mode", text]) } }
    }

    @Test func itIsGivenByEitherName() throws {
        #expect(try RunCommand.parse(["a.json", "--record-mode", "all"]).proxyRun.settings[Settings.mode]?.value == .all)
        #expect(try RunCommand.parse(["a.json", "--mode", "none"]).proxyRun.settings[Settings.mode]?.value == RecordMode.none)
        #expect(try RunCommand.parse(["a.json"]).proxyRun.settings[Settings.mode] == nil)
        #expect(throws: (any Error).self) { try RunCommand.parse(["a.json", "--mode", "passthrough"]) }
    }
}

/// `replay`: answers only from the cassette.
@Suite struct ReplayCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    @Test func onlyExchangesThatMatchAreRepeated() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let (login, data) = ("http://127.0.0.1:\(origin.port)/echo?login=1", "http://127.0.0.1:\(origin.port)/echo?data=1")
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(login, data)).status == 0)
        origin.program.stop()
        let repeated = ["replay", self.cassette, "--repeat-matching", "~u login & ~m GET", "--"]
        #expect(try Wiretape.run(repeated + Curl.get(login, data, login, login)).status == 0)
        #expect(try Wiretape.run(repeated + Curl.get(login, data, data)).status == 3)
        let wrong = try Wiretape.run(["replay", self.cassette, "--repeat-matching", "~zz", "--"] + Curl.get(login))
        #expect(wrong.status != 0 && wrong.errors.contains("~zz"), "\(wrong.errors)")
    }

    @Test func repetitionAnswersAgain() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url)).status == 0)
        origin.program.stop()
        #expect(try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url, url)).status == 3)
        for repetition in ["last", "cycle"] {
            #expect(try Wiretape.run(["replay", self.cassette, "--repeat", repetition, "--"] + Curl.get(url, url, url)).status == 0)
        }
    }

    @Test func rulesOfTheRecordingAndOfTheReplayMakeRequestsEqual() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--ignore", "query:ts", "--"] + Curl.get(url + "?ts=1&n=1")).status == 0)
        origin.program.stop()
        try CassetteFile.expectValid(self.cassette)
        #expect(try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?n=1&ts=2")).status == 0)
        let miss = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?n=22&ts=2"))
        #expect(miss.status == 3 && miss.errors.contains("--ignore query:n"), "\(miss.errors)")
        for options in [["--ignore", "query:n"], ["--pattern", "query:n=[0-9]+"], ["--match", "method,path"]] {
            #expect(
                try Wiretape.run(["replay", self.cassette] + options + ["--"] + Curl.get(url + "?n=22&ts=2")).status == 0, "\(options)")
        }
        #expect(try Wiretape.run(["replay", self.cassette, "--ignore", "nowhere", "--", "true"]).status == 64)
    }

    @Test func aConfigurationInTheWorkingDirectoryIsReadUnlessDisabled() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "?n=1")).status == 0)
        origin.program.stop()
        try self.folder.write("ignore: [query:n]\nrepeat: last\n".utf8, to: "wiretape.yaml")
        let command = ["--"] + Curl.get(url + "?n=2", url + "?n=3")
        #expect(try Wiretape.run(["replay", "pets.json"] + command, directory: self.folder.path).status == 0)
        #expect(try Wiretape.run(["replay", "pets.json", "--no-config"] + command, directory: self.folder.path).status == 3)
        #expect(try Wiretape.run(["replay", "pets.json", "--repeat", "never"] + command, directory: self.folder.path).status == 3)
    }

    @Test func unusedAndOutOfOrderExchangesFailWhereTheyAreTo() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "?a", url + "?b")).status == 0)
        origin.program.stop()
        let reports = ["--report", self.folder.file("r.json"), "--report", self.folder.file("r.xml")]
        let unused = try Wiretape.run(["replay", self.cassette, "--fail-on", "miss,unused"] + reports + ["--"] + Curl.get(url + "?a"))
        #expect(unused.status == 4 && unused.errors.contains("unused: exchange 2, \"GET \(url)?b\""), "\(unused.errors)")
        #expect(String(decoding: try self.folder.read("r.json"), as: UTF8.self).contains("\"unused\": 1"))
        #expect(String(decoding: try self.folder.read("r.xml"), as: UTF8.self).contains("failures=\"1\""))
        let order = try Wiretape.run(["replay", self.cassette, "--fail-on", "order", "--"] + Curl.get(url + "?b", url + "?a"))
        #expect(order.status == 5 && order.errors.contains("order: exchange 1"), "\(order.errors)")
        #expect(try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?b", url + "?a")).status == 0)
        let strict = try Wiretape.run(["replay", self.cassette, "--order", "strict", "--"] + Curl.get(url + "?b", url + "?a"))
        #expect(strict.status == 5 && strict.errors.contains("was requested while"), "\(strict.errors)")
    }

    @Test func anOldCassetteFailsWithSeven() throws {
        try self.folder.write(
            """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2020-01-02T03:04:05.678901Z",
              "request": { "method": "GET", "url": "http://origin.test/" }, "response": { "status": 204 } } ] }
            """.utf8, to: "pets.json")
        let time = ["--fail-on", "none", "--", "sh", "-c", "echo $WIRETAPE_RECORDED_AT $WIRETAPE_RECORDED_AT_UNIX"]
        let fresh = try Wiretape.run(["replay", self.cassette] + time)
        #expect(fresh.status == 0 && fresh.outputText == "2020-01-02T03:04:05.678901Z 1577934245\n")
        let warned = try Wiretape.run(["replay", self.cassette, "--max-age", "30d"] + time)
        #expect(warned.status == 0 && warned.errors.contains("days old, which is more than the allowed 30 days"), "\(warned.errors)")
        let failed = try Wiretape.run(["replay", self.cassette, "--max-age", "30d", "--on-expired", "fail"] + time)
        #expect(failed.status == 7 && failed.outputText.isEmpty, "\(failed.errors)")
        #expect(try Wiretape.run(["replay", self.cassette, "--on-expired", "rerecord"] + time).status == 64)
    }

    @Test func unusedExchangeIsReported() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url, url + "?b")).status == 0)
        let end = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?b"))
        #expect(end.status == 0)
        #expect(end.errors == "wiretape: replayed 1 of 2 exchanges from \(self.cassette), 1 unused.\n")
    }
}

/// `run`: records once, then replays; and adds new exchanges on request.
@Suite struct RunCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    @Test func theFirstRunRecordsAndTheNextOnesReplay() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let command = Curl.get("http://127.0.0.1:\(origin.port)/json", "http://127.0.0.1:\(origin.port)/gzip-dated")
        let first = try Wiretape.run(["run", self.cassette, "--"] + command)
        #expect(first.status == 0 && first.errors.contains("recorded 2 exchanges"), "\(first.errors)")
        let recorded = try self.folder.read("pets.json")
        origin.program.stop()
        for _ in 1...2 {
            let next = try Wiretape.run(["run", self.cassette, "--"] + command)
            #expect(next.status == 0 && next.errors.contains("replayed 2 of 2 exchanges"), "\(next.errors)")
            #expect(next.output == first.output)
        }
        #expect(try self.folder.read("pets.json") == recorded)
        try CassetteFile.expectValid(self.cassette)
    }

    @Test func anExpiredCassetteIsRecordedAgain() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        try self.folder.write(
            """
            { "wiretape": 1, "match": { "ignore": ["query:own"] }, "interactions": [ { "id": 1, "started": "2020-01-02T03:04:05Z",
              "request": { "method": "GET", "url": "http://origin.test/" }, "response": { "status": 204 } } ] }
            """.utf8, to: "pets.json")
        let end = try Wiretape.run(["run", self.cassette, "--max-age", "30d", "--on-expired", "rerecord", "--"] + Curl.get(url))
        #expect(end.status == 0 && end.errors.contains("it is recorded again"), "\(end.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url])
        #expect(String(decoding: try self.folder.read("pets.json"), as: UTF8.self).contains("query:own"))
    }

    @Test func aRunThatOnlyReplaysRecordsNothing() throws {
        let text = """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2020-01-02T03:04:05Z",
              "request": { "method": "GET", "url": "http://origin.test/" }, "response": { "status": 204 } } ] }
            """
        try self.folder.write(text.utf8, to: "pets.json")
        let expired = ["--max-age", "30d", "--on-expired", "rerecord"]
        let end = try Wiretape.run(["run", self.cassette, "--record-mode", "none"] + expired + ["--"] + Curl.get("http://origin.test/"))
        #expect(end.status == 0 && end.errors.contains("replayed 1 of 1 exchange"), "\(end.errors)")
        #expect(try self.folder.read("pets.json") == Array(text.utf8))
    }

    @Test func aRunCanRecordEverythingAgain() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        for query in ["?old", "?new"] {
            #expect(try Wiretape.run(["run", self.cassette, "--record-mode", "all", "--"] + Curl.get(url + query)).status == 0)
            #expect(try CassetteFile.urls(self.cassette) == [url + query])
        }
    }

    @Test func onceRefusesNewRequests() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["run", self.cassette, "--"] + Curl.get(url)).status == 0)
        #expect(try Wiretape.run(["run", self.cassette, "--"] + Curl.get(url + "?new")).status == 3)
        #expect(try CassetteFile.urls(self.cassette) == [url])
    }

    @Test func newEpisodesReplaysRecordedExchangesAndAddsTheRest() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)"
        #expect(
            try Wiretape.run(["run", self.cassette, "--mode", "new-episodes", "--"] + Curl.get(url + "/item?n=1", url + "/large")).status
                == 0)
        let second = try Wiretape.run(
            ["run", self.cassette, "--mode", "new-episodes", "--"] + Curl.get(url + "/item?n=1", url + "/item?n=2"))
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.errors.contains("replayed 1 of 2 exchanges") && second.errors.contains("recorded 1 exchange"), "\(second.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url + "/item?n=1", url + "/large", url + "/item?n=2"])
        #expect(try CassetteFile.interactions(self.cassette).map { $0["id"] as? Int } == [1, 2, 3])
        try CassetteFile.expectValid(self.cassette)
        origin.program.stop()
        #expect(
            try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "/item?n=2", url + "/item?n=1", url + "/large")).status == 0)
    }
}
