import Foundation
import Platform
import Testing
import TapeTestSupport

/// A program logs in, and afterwards no file contains any of its sent or received secrets.
@Suite struct RedactionTests {
    private let folder: TemporaryFolder
    private let cassette: String
    private let secrets = Secrets(
        token: "tok/9+Zq\"Lw81~XbV", cookie: "c00kie-7fQ9x2LmZ4", password: "p&ss w0rd+?%x", key: "key_4Hq8-ZtP/1x+v")

    private struct Secrets {
        var token: String
        var cookie: String
        var password: String
        var key: String

        var all: [String] { [self.token, self.cookie, self.password, self.key] }
    }

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("tapes/login.json")
    }

    private func client(_ port: Int, _ secrets: Secrets, size: Int) throws -> [String] {
        ["python3", Programs.fixture("login_client.py"), "http://127.0.0.1:\(port)", secrets.password, secrets.key, "\(size)"]
    }

    private func expectNoSecrets(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let search = try Python.run("find_secrets.py", [self.folder.file("tapes")] + self.secrets.all)
        #expect(search.status == 0, "\(search.outputText)\(search.errors)", sourceLocation: sourceLocation)
    }

    private func record(size: Int, _ options: [String] = []) throws -> (port: Int, end: ExternalProgram.Ended) {
        let origin = try Python.origin("login_origin.py", [self.secrets.token, self.secrets.cookie])
        defer { origin.program.stop() }
        let end = try Wiretape.run(
            ["record", self.cassette] + options + ["--"] + self.client(origin.port, self.secrets, size: size), seconds: 240)
        return (origin.port, end)
    }

    @Test(arguments: [0, 2 << 20]) func aLoginLeavesNoSecretAndPlaysWithTheSecretsAndWithOthers(size: Int) throws {
        let (port, end) = try self.record(size: size)
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.outputText == self.secrets.token + "\n")
        try self.expectNoSecrets()
        try CassetteFile.expectValid(self.cassette)
        for secret in self.secrets.all { #expect(!end.errors.contains(secret)) }

        // Same length as the first: the client writes its key over other bytes.
        let others = Secrets(token: "", cookie: "", password: "another, longer password", key: "another-key-08154")
        for secrets in [self.secrets, others] {
            let replay = try Wiretape.run(["replay", self.cassette, "--"] + self.client(port, secrets, size: size), seconds: 240)
            #expect(replay.status == 0, "\(replay.errors)")
            #expect(replay.outputText.contains("{{access_token:1}}"), "\(replay.outputText)")
        }
    }

    @Test func fiftyMegabytesAreRedactedToo() throws {
        let (_, end) = try self.record(size: 50 << 20)
        #expect(end.status == 0, "\(end.errors)")
        try self.expectNoSecrets()
        let sidecars = try self.folder.names(in: "tapes/login.bodies")
        #expect(sidecars.count == 1)
    }

    @Test func withoutRedactionEverythingStaysAndTheCommandTakesItOutLater() throws {
        let (port, end) = try self.record(size: 200_000, ["--no-redaction"])
        #expect(end.status == 0, "\(end.errors)")
        let search = try Python.run("find_secrets.py", [self.folder.file("tapes")] + self.secrets.all)
        #expect(search.status == 1)
        let kept = try Wiretape.run(["replay", self.cassette, "--"] + self.client(port, self.secrets, size: 200_000))
        #expect(kept.outputText == self.secrets.token + "\n", "\(kept.errors)")

        let before = try TemporaryFolder.contents(self.cassette)
        let dry = try Wiretape.run(["redact", self.cassette, "--dry-run"])
        #expect(dry.status == 0 && dry.outputText.hasPrefix("would redact "), "\(dry.outputText)\(dry.errors)")
        #expect(try TemporaryFolder.contents(self.cassette) == before)
        let redact = try Wiretape.run(["redact", self.cassette])
        #expect(redact.status == 0 && redact.outputText.hasPrefix("redacted "), "\(redact.outputText)\(redact.errors)")
        try self.expectNoSecrets()
        try CassetteFile.expectValid(self.cassette)
        let replay = try Wiretape.run(["replay", self.cassette, "--"] + self.client(port, self.secrets, size: 200_000))
        #expect(replay.status == 0, "\(replay.errors)")
    }

    @Test func moreExchangesAreRedactedByTheCassettesRulesAndNumbersCountOn() throws {
        let (_, end) = try self.record(size: 0, ["--redact", "query:device"])
        #expect(end.status == 0, "\(end.errors)")
        let origin = try Python.origin("login_origin.py", [self.secrets.token, self.secrets.cookie])
        defer { origin.program.stop() }
        let more = try Wiretape.run(
            ["run", self.cassette, "--mode", "new-episodes", "--redact", "header:x-who", "--"]
                + Curl.get("http://127.0.0.1:\(origin.port)/me?device=abc&n=1")
                + ["-H", "X-Who: ann", "-H", "Authorization: Bearer other-9Kd72hQ"])
        #expect(more.status == 0, "\(more.errors)")
        let text = String(decoding: try TemporaryFolder.contents(self.cassette), as: UTF8.self)
        #expect(text.contains("\"redaction\": { \"rules\": [\"query:device\", \"header:x-who\"] }"))
        #expect(text.contains("Bearer {{authorization:1}}") && text.contains("{{x-who:1}}") && !text.contains("other-9Kd72hQ"), "\(text)")
        #expect(text.contains("device={{device:1}}") || text.contains("device=%7B%7Bdevice"), "\(text)")
    }

    @Test func aSecretOfTheEnvironmentIsFoundByItsValue() throws {
        let origin = try Python.origin("login_origin.py", [self.secrets.token, self.secrets.cookie])
        defer { origin.program.stop() }
        let end = try Wiretape.run(
            ["record", self.cassette, "--secret-env", "MY_TOKEN", "--secret-env", "NOT_THERE", "--"]
                + Curl.get("http://127.0.0.1:\(origin.port)/early"),
            environment: ["MY_TOKEN": self.secrets.token])
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("\"NOT_THERE\""), "\(end.errors)")
        try self.expectNoSecrets()
        #expect(String(decoding: try TemporaryFolder.contents(self.cassette), as: UTF8.self).contains("{{env-MY_TOKEN:1}}"))
    }

    @Test func aLeakFailsTheRunAndLeavesTheOldCassetteInItsPlace() throws {
        let (_, end) = try self.record(size: 0)
        #expect(end.status == 0, "\(end.errors)")
        let before = try TemporaryFolder.contents(self.cassette)
        // A rule for a place whose name is the secret: it is written into the cassette's head.
        let origin = try Python.origin("login_origin.py", [self.secrets.token, self.secrets.cookie])
        defer { origin.program.stop() }
        let leak = try Wiretape.run(
            ["record", self.cassette, "--redact", "query:literal-9Kd72hQ", "--"]
                + Curl.get("http://127.0.0.1:\(origin.port)/me") + ["-H", "X-Api-Key: literal-9Kd72hQ"])
        #expect(leak.status == 6, "\(leak.status) \(leak.errors)")
        #expect(leak.errors.contains("the cassette's beginning, line 4: the value of {{api-key:1}}"), "\(leak.errors)")
        #expect(!leak.errors.contains("literal-9Kd72hQ"))
        #expect(try TemporaryFolder.contents(self.cassette) == before)
    }

    @Test func aRuleThatSpellsTheSecretIsRefusedBeforeAnythingIsRecorded() throws {
        let end = try Wiretape.run(["record", self.cassette, "--redact", "text=literal-9Kd72hQ", "--", "true"])
        #expect(end.status == 64, "\(end.errors)")
        #expect(end.errors.contains("--secret-env") && !end.errors.contains("literal-9Kd72hQ"))
        #expect(!FileManager.default.fileExists(atPath: self.cassette))
    }

    @Test func killedInTheMiddleEveryRecordedExchangeIsRedactedAndTheNextRecorderTidiesUp() throws {
        let origin = try Python.origin("login_origin.py", [self.secrets.token, self.secrets.cookie])
        defer { origin.program.stop() }
        let recorder = try Wiretape.listening(["record", self.cassette])
        defer { recorder.program.stop() }
        let proxy = ["http_proxy": "http://127.0.0.1:\(recorder.port)"]
        // Without the early request: secrets that are learned later are removed when the recorder closes, and this one is killed.
        let me = Curl.get("http://127.0.0.1:\(origin.port)/me") + ["-H", "Authorization: Bearer \(self.secrets.token)"]
        let end = try ExternalProgram.run(try Programs.find(me[0]), Array(me.dropFirst()), environment: proxy)
        #expect(end.status == 0, "\(end.errors)")
        _ = try Deadline.wait(for: "the exchange in the file") {
            (try? CassetteFile.interactions(self.cassette).isEmpty) == false ? true : nil
        }
        recorder.program.send(SIGKILL)
        _ = try recorder.program.wait()
        let next = try Wiretape.run(["run", self.cassette, "--mode", "new-episodes", "--fail-on", "none", "--", "true"])
        #expect(next.status == 0, "\(next.errors)")
        #expect(try CassetteFile.interactions(self.cassette).count == 1)
        try self.expectNoSecrets()
    }
}
