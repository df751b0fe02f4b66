import ArgumentParser
import CassetteRun
import TapeProxy
import Testing
@testable import WiretapeCLI
import TapeTestSupport

/// The results that a script can read from the exit code alone.
@Suite struct ProxyRunTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    /// Records `/echo` of an origin that is stopped afterwards.
    private func recordEcho() throws -> String {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        let end = try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url))
        try #require(end.status == 0, "\(end.errors)")
        return url
    }

    @Test(arguments: ["record", "replay", "run"])
    func theCommandsOwnCodeWins(_ command: String) throws {
        _ = try self.recordEcho()
        #expect(try Wiretape.run([command, self.cassette, "--", "sh", "-c", "exit 7"]).status == 7)
    }

    @Test func aCommandThatASignalEndedCountsAsInAShell() throws {
        #expect(try Wiretape.run(["record", self.cassette, "--", "sh", "-c", "kill -9 $$"]).status == 128 + 9)
    }

    @Test func missesGiveThreeThoughTheCommandIsContent() throws {
        let url = try self.recordEcho()
        let end = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url, url + "?other"))
        #expect(end.status == 3)
        #expect(end.errors.contains("miss: no recorded exchange answers \"GET \(url)?other\""), "\(end.errors)")
        #expect(end.errors.contains("replayed 1 of 1 exchange"), "\(end.errors)")
    }

    @Test func theCommandsCodeWinsOverMisses() throws {
        let url = try self.recordEcho()
        let end = try Wiretape.run(["replay", self.cassette, "--", "sh", "-c", Curl.line(url + "?other") + "; exit 9"])
        #expect(end.status == 9)
        #expect(end.errors.contains("1 miss"), "\(end.errors)")
    }

    @Test func anAnswerThatCannotBeReplayedFailsTheRunThoughTheCommandIsContent() throws {
        let body =
            "\"size\": 2, \"sha256\": \"\(String(repeating: "0", count: 64))\", \"file\": \"pets.bodies/\(String(repeating: "0", count: 64)).bin\""
        try self.folder.write(
            """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2026-11-21T04:19:28.123456Z",
              "request": { "method": "GET", "url": "http://origin.test/", "headers": ["Host: origin.test"] },
              "response": { "status": 200, "headers": ["Content-Length: 2"], "body": { \(body) } } } ] }
            """.utf8, to: "pets.json")
        let end = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get("http://origin.test/"))
        #expect(end.status == 1)
        #expect(end.errors.contains("1 recorded answer could not be replayed"), "\(end.errors)")
    }

    @Test func aMissingCassetteIsReportedBeforeListening() throws {
        let end = try Wiretape.run(["replay", self.cassette, "--listen", "127.0.0.1:0"])
        #expect(end.status == 1)
        #expect(end.errors.contains("there is no cassette \"\(self.cassette)\""), "\(end.errors)")
        #expect(!end.errors.contains("listening"))
    }

    @Test(arguments: ["record", "replay", "run"])
    func aFileThatIsNoCassetteIsReportedBeforeListeningAndUnchanged(_ command: String) throws {
        var texts = ["{\"a\": 1}\n", "hello", "{\"wiretape\": 9, \"interactions\": []}\n"]
        // A recording that will be replaced need not have valid exchanges.
        if command != "record" { texts.append("{\"wiretape\": 1, \"interactions\": [\n  {\"id\": 1, \"started\" oops}\n]}\n") }
        for text in texts {
            try self.folder.write(text.utf8, to: "pets.json")
            let end = try Wiretape.run([command, self.cassette, "--listen", "127.0.0.1:0"])
            #expect(end.status == 1, "\(text)")
            #expect(end.errors.contains("pets.json") && !end.errors.contains("listening"), "\(end.errors)")
            #expect(try self.folder.read("pets.json") == Array(text.utf8))
            #expect(try self.folder.names() == ["pets.json"])
        }
    }

    @Test func aCommandThatIsNotThereIs127AndLeavesNoCassette() throws {
        let end = try Wiretape.run(["record", self.cassette, "--", "no-such-program", "x"])
        #expect(end.status == 127)
        #expect(end.errors.contains("\"no-such-program\" was not found"), "\(end.errors)")
        #expect(try self.folder.names() == [])
    }

    @Test func aCommandThatCannotBeStartedIs1AndLeavesNoCassette() throws {
        try self.folder.write("#!/bin/sh\n".utf8, to: "client.sh")
        let end = try Wiretape.run(["record", self.cassette, "--", self.folder.file("client.sh")])
        #expect(end.status == 1)
        #expect(end.errors.contains("client.sh\" cannot be started (Permission denied)"), "\(end.errors)")
        #expect(try self.folder.names() == ["client.sh"])
    }

    @Test func aRecordingOfACommandThatFailedTakesItsPlaceWhereItIsTo() throws {
        let url = try self.recordEcho()
        let failed = ["--", "sh", "-c", Curl.line(url + "?new") + "; exit 3"]
        #expect(try Wiretape.run(["record", self.cassette] + failed).status == 3)
        #expect(try self.folder.names() == ["pets.json", "pets.new.json"])
        #expect(try CassetteFile.urls(self.cassette) == [url])
        let kept = try Wiretape.run(["record", self.cassette, "--keep-on-failure"] + failed)
        #expect(kept.status == 3 && kept.errors.contains("the command failed, so"), "\(kept.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url])
        #expect(try Wiretape.run(["record", self.cassette, "--no-keep-on-failure"] + failed).status == 3)
        #expect(try CassetteFile.urls(self.cassette) == [url + "?new"])
    }

    @Test func aReviewWithoutATerminalKeepsBothAndSaysHowToGoOn() throws {
        let url = try self.recordEcho()
        let command = ["--"] + Curl.get(url + "?new")
        let kept = try Wiretape.run(["record", self.cassette, "--review"] + command)
        #expect(kept.status == 0 && kept.errors.contains("~ 1 GET \(url)\n    request query:new"), "\(kept.errors)")
        #expect(kept.errors.contains("to accept it, run: mv \(self.folder.file("pets.new.json")) \(self.cassette)"), "\(kept.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url])
        let taken = try Wiretape.run(["record", self.cassette, "--review", "--yes"] + command)
        #expect(taken.status == 0, "\(taken.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url + "?new"])
        #expect(try Wiretape.run(["record", self.cassette, "--yes"] + command).status == 64)
    }

    @Test func aReviewDoesNotAcceptARecordingWithASecret() throws {
        let url = try self.recordEcho()
        let old = try self.folder.read("pets.json")
        // The head stores match rules as they are given.
        let leak = try Wiretape.run(
            ["record", self.cassette, "--review", "--yes", "--ignore", "query:literal-9Kd72hQ", "--"]
                + Curl.get(url + "?api_key=literal-9Kd72hQ"))
        #expect(leak.status == 6 && leak.errors.contains("it contains a secret, so \(self.cassette) is unchanged"), "\(leak.errors)")
        #expect(try self.folder.read("pets.json") == old)
    }

    @Test func aReportThatCannotBeWrittenIsAnErrorBeforeTheRun() throws {
        _ = try self.recordEcho()
        let end = try Wiretape.run(["replay", self.cassette, "--report", self.folder.file("none/r.json"), "--", "echo", "ran"])
        #expect(end.status == 1 && end.outputText.isEmpty && end.errors.contains("none/r.json"), "\(end.errors)")
    }

    /// Each reaches the proxy in another way, and none reaches an origin.
    @Test(arguments: [
        (["--refuse", "localhost"], "curl -q -s https://localhost:9/ || true"), ([], "curl -q -s \"$http_proxy/\""),
        ([], "curl -q -s http://wiretape.test/"),
        (["--passthrough", "localhost"], "curl -q -s \"${WIRETAPE_REVERSE}https://localhost:9/\""),
        ([], "curl -q -s -x \"$http_proxy\" \"$http_proxy/https%3A//a.test/\""),
        (["--refuse", "localhost"], "curl -q -s --socks5-hostname \"${http_proxy#http://}\" -k https://localhost:9/ || true"),
    ])
    func requestsThatTheProxyItselfAnswersAreReported(_ options: [String], _ line: String) throws {
        let report = self.folder.file("r.json")
        let end = try Wiretape.run(
            ["run", self.cassette, "--mode", "new-episodes", "--report", report] + options + ["--", "sh", "-c", "\(line) >/dev/null"])
        #expect(end.errors.contains("wiretape itself answered 1 request.") || line.contains("%3A"), "\(end.errors)")
        #expect(!end.errors.contains("made no request"), "\(end.errors)")
        #expect(String(decoding: try self.folder.read("r.json"), as: UTF8.self).contains("\"forwarded\": 0,"))
    }

    /// A reserved name (RFC 6761), a port without a listener, and the proxy itself.
    @Test func requestThatReachedNoOriginIsNotCountedAsForwarded() throws {
        let end = try Wiretape.run(
            ["run", self.cassette, "--report", self.folder.file("r.json"), "--no-upstream-proxy", "*", "--", "sh", "-c"]
                + ["curl -q -s -o /dev/null http://a.invalid/ http://127.0.0.1:1/ \"$http_proxy/\""])
        #expect(end.status == 0, "\(end.errors)")
        let text = String(decoding: try self.folder.read("r.json"), as: UTF8.self)
        #expect(text.contains("\"forwarded\": 0,") && text.contains("\"unreached\": 3,"), "\(text)")
    }

    @Test func helpAndVersionAreZero() throws {
        #expect(try Wiretape.run(["--help"]).status == 0)
        let version = try Wiretape.run(["--version"])
        #expect(version.status == 0)
        #expect(version.outputText.contains("."))
    }

    @Test func replacementOfACassetteKeepsItsRedactionRules() throws {
        let origin = try DriftingOrigin(["a.json": #"{"name":"Morwenna","n":1}"#])
        defer { origin.stop() }
        let client = ["--"] + Curl.get(origin.url("a.json"))
        #expect(try Wiretape.run(["record", self.cassette, "--redact", "json:/name"] + client).status == 0)
        #expect(try Wiretape.run(["record", self.cassette] + client).status == 0)
        let text = String(decoding: try self.folder.read("pets.json"), as: UTF8.self)
        #expect(text.contains("\"rules\": [\"json:/name\"]") && !text.contains("Morwenna"), "\(text)")
        #expect(try Wiretape.run(["record", self.cassette, "--no-redaction"] + client).status == 0)
        #expect(String(decoding: try self.folder.read("pets.json"), as: UTF8.self).contains("Morwenna"))
    }

    @Test func theFileCompletesTheCommandLine() throws {
        let url = try self.recordEcho()
        try self.folder.write("review: true\nkeepOnFailure: false\n".utf8, to: "wiretape.yaml")
        let config = ["--config", self.folder.file("wiretape.yaml")]
        let command = ["--"] + Curl.get(url + "?new")
        let kept = try Wiretape.run(["record", self.cassette] + config + command)
        #expect(kept.errors.contains("to accept it, run: mv"), "\(kept.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url])
        #expect(try Wiretape.run(["record", self.cassette, "--no-review"] + config + command).status == 0)
        #expect(try CassetteFile.urls(self.cassette) == [url + "?new"])
        let failed = ["--", "sh", "-c", Curl.line(url + "?newer") + "; exit 3"]
        #expect(try Wiretape.run(["record", self.cassette, "--keep-on-failure"] + config + failed).status == 3)
        #expect(try CassetteFile.urls(self.cassette) == [url + "?new"])
        #expect(try Wiretape.run(["record", self.cassette, "--no-review"] + config + failed).status == 3)
        #expect(try CassetteFile.urls(self.cassette) == [url + "?newer"])
    }

    @Test func theFileSaysWhereToListen() throws {
        try self.folder.write("listen: 0.0.0.0:0\n".utf8, to: "wiretape.yaml")
        let config = ["--config", self.folder.file("wiretape.yaml")]
        let end = try Wiretape.run(["record", self.cassette] + config)
        #expect(end.status == 1 && end.errors.contains("--proxy-auth"), "\(end.errors)")
        #expect(try Wiretape.run(["record", self.cassette, "--listen", "127.0.0.1:0"] + config + ["--", "true"]).status == 0)
    }

    @Test func theFileSaysWhichDatesMove() throws {
        try self.folder.write(
            """
            { "wiretape": 1, "match": { "match": ["method", "url", "header:if-modified-since"] }, "interactions": [
              { "id": 1, "started": "2020-01-01T00:00:00Z",
                "request": { "method": "GET", "url": "http://origin.test/", "headers": ["Host: origin.test"] },
                "response": { "status": 200, "headers": ["Last-Modified: Wed, 01 Jan 2020 00:00:00 GMT", "Content-Type: application/json",
                  "Content-Length: 47"], "body": { "size": 47, "json": { "at": 1577836800, "born": "2000-01-01T00:00:00Z" } } } },
              { "id": 2, "started": "2020-01-01T00:00:09Z",
                "request": { "method": "GET", "url": "http://origin.test/",
                  "headers": ["Host: origin.test", "If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT"] },
                "response": { "status": 304 } } ] }
            """.utf8, to: "pets.json")
        try self.folder.write("refreshDates: true\nrefreshFields: [json:/at]\n".utf8, to: "wiretape.yaml")
        let config = ["--config", self.folder.file("wiretape.yaml")]
        let script = """
            \(Curl.line()) -i http://origin.test/ > \(self.folder.file("first")); cat \(self.folder.file("first"))
            date=$(sed -n 's/^Last-Modified: //p' \(self.folder.file("first")) | tr -d '\\r')
            \(Curl.line()) -i -H "If-Modified-Since: $date" http://origin.test/
            """
        let end = try Wiretape.run(["replay", self.cassette] + config + ["--", "sh", "-c", script])
        #expect(end.status == 0 && end.outputText.contains("HTTP/1.1 304"), "\(end.outputText) \(end.errors)")
        #expect(!end.outputText.contains("2020") && !end.outputText.contains("1577836800"), "\(end.outputText)")
        #expect(end.outputText.contains("2000-01-01"))
        let left = try Wiretape.run(["replay", self.cassette, "--no-refresh-dates"] + config + ["--", "sh", "-c", script])
        #expect(left.status == 0 && left.outputText.contains("1577836800"), "\(left.outputText) \(left.errors)")
    }

    @Test(arguments: [["--on-expired", "fail"], ["--refresh-field", "json:/a"]])
    func optionWithoutAnEffectIsWrongUsage(_ options: [String]) throws {
        _ = try self.recordEcho()
        let end = try Wiretape.run(["replay", self.cassette] + options + ["--", "echo", "ran"])
        #expect(end.status == 64 && end.outputText.isEmpty, "\(end.errors)")
    }
}

@Suite struct RunSettingsCommandLineTests {
    @Test func settingWithoutAnEffectIsWrongUsage() throws {
        var settings = RunSettings()
        try settings.check()
        settings[Settings.onExpired] = Setting(value: .fail, source: .commandLine)
        #expect(throws: ValidationError.self) { try settings.check() }
        settings[Settings.maxAge] = Setting(value: Age(seconds: 1), source: .standard)
        try settings.check()
        settings[Settings.refreshFields] = [Setting(value: "json:/a", source: .commandLine)]
        #expect(throws: ValidationError.self) { try settings.check() }
        settings[Settings.refreshDates] = Setting(value: false, source: .commandLine)
        #expect(throws: ValidationError.self) { try settings.check() }
        settings[Settings.refreshDates] = Setting(value: true, source: .standard)
        try settings.check()
        #expect(throws: ValidationError.self) { try settings.check(assumesYes: true) }
        settings[Settings.review] = Setting(value: true, source: .standard)
        try settings.check(assumesYes: true)
        // A file may contain settings for another day, but none that never has an effect.
        try ConfigFile(path: "wiretape.yaml", bytes: Array("onExpired: fail".utf8)).settings.check()
        var file = try ConfigFile(path: "wiretape.yaml", bytes: Array("onExpired: fail\nrefreshFields: [json:/a]".utf8)).settings
        let error = #expect(throws: SettingError.self) { try file.check() }
        #expect(error?.message.hasPrefix("wiretape.yaml line 2: refreshFields applies to dates that refreshDates moves") == true)
        // They are allowed if only this run has --no-refresh-dates.
        file[Settings.refreshDates] = Setting(value: false, source: .commandLine)
        try file.check()
    }
}
