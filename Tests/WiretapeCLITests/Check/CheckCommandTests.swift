import Foundation
import Testing
import TapeTestSupport

@Suite struct CheckCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    private func check(_ options: [String] = []) throws -> ExternalProgram.Ended {
        try Wiretape.run(["check", self.cassette, "--against", "live"] + options)
    }

    @Test func driftIsShownAndOnlySafeMethodsAreSent() throws {
        let origin = try DriftingOrigin(["a.json": #"{"a":1}"#, "b.txt": "same"])
        defer { origin.stop() }
        try origin.record(
            self.cassette,
            [[origin.url("a.json?x=1")], ["-I", origin.url("b.txt")], ["-d", "p=1", origin.url("b.txt")], [origin.url("b.txt")]])
        let before = try self.folder.read("pets.json")
        _ = try origin.takeRequests()

        let same = try self.check()
        #expect(
            same.status == 0 && same.outputText == "3 the same, 0 changed, 0 not answered, 1 not sent.\n",
            "\(same.outputText)\(same.errors)")
        #expect(same.errors.contains("exchange 3, POST ") && same.errors.contains("--unsafe-methods"), "\(same.errors)")
        #expect(try origin.takeRequests() == ["GET /a.json?x=1 ", "HEAD /b.txt ", "GET /b.txt "])

        try origin.set("a.json", #"{"a":2}"#)
        let drift = try self.check(["--unsafe-methods"])
        #expect(drift.status == 1)
        #expect(
            drift.outputText
                == "~ 1 GET \(origin.url("a.json?x=1"))\n    response json:/a: 1 → 2\n3 the same, 1 changed, 0 not answered, 0 not sent. Differences: 1 value.\n",
            "\(drift.outputText)\(drift.errors)")
        #expect(try origin.takeRequests() == ["GET /a.json?x=1 ", "HEAD /b.txt ", "POST /b.txt p=1", "GET /b.txt "])
        #expect(try self.folder.read("pets.json") == before)
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func anOriginThatIsGoneIsDrift() throws {
        let origin = try DriftingOrigin(["b.txt": "same"])
        try origin.record(self.cassette, [[origin.url("b.txt")]])
        origin.stop()
        let end = try self.check()
        #expect(end.status == 1 && end.outputText.contains("outcome: complete → failed: refused"), "\(end.outputText)\(end.errors)")
    }

    @Test func placeholdersAreNotSent() throws {
        let origin = try DriftingOrigin(["b.txt": "same"])
        defer { origin.stop() }
        try origin.record(self.cassette, [["-H", "Authorization: Bearer {{authorization:1}}", origin.url("b.txt")]])
        _ = try origin.takeRequests()
        let end = try self.check(["--json"])
        #expect(end.status == 2 && end.outputText == "[]\n", "\(end.outputText)")
        #expect(end.errors.contains("authorization:1"), "\(end.errors)")
        #expect(try origin.takeRequests() == [])
    }

    @Test func secretsAreAskedForAndNotShown() throws {
        let origin = try DriftingOrigin(["a.json": #"{"name":"Morwenna","n":1}"#])
        defer { origin.stop() }
        let (url, secret) = (origin.url("a.json"), "Authorization: Bearer open-sesame-12")
        let record = ["record", self.cassette, "--redact", "json:/name", "--"]
        let script =
            "\(Curl.line()) -o /dev/null -H 'Authorization: Bearer other-one-34' \(url)?1; \(Curl.line()) -o /dev/null -H '\(secret)' \(url)?2"
        #expect(try Wiretape.run(record + ["sh", "-c", script]).status == 0)
        _ = try origin.takeRequests()
        let without = try self.check()
        #expect(without.outputText == "0 the same, 0 changed, 0 not answered, 2 not sent.\n", "\(without.outputText)")
        #expect(without.status == 2 && without.errors.contains("nothing was checked"), "\(without.errors)")
        #expect(try origin.takeRequests() == [])

        try origin.set("a.json", #"{"name":"Ysella","n":2}"#)
        let end = try Wiretape.run(
            ["check", self.cassette, "--against", "live", "--fill", "authorization:2=TOKEN"], environment: ["TOKEN": "open-sesame-12"])
        #expect(end.status == 1 && end.outputText.contains("    response json:/n: 1 → 2\n0 the same, 1 changed"), "\(end.outputText)")
        #expect(!(end.outputText + end.errors).contains("Ysella") && !(end.outputText + end.errors).contains("sesame"))
        #expect(try origin.takeRequests().count == 1)
        #expect(try self.check(["--fill", "authorization:2=WIRETAPE_NO_SUCH"]).status == 2)
        #expect(try self.check(["--fill", "authorization"]).status == 64)
    }

    @Test func wrongUsageIsReported() throws {
        #expect(try self.check().status == 2)
        #expect(try Wiretape.run(["check", self.cassette]).status == 64)
        #expect(try self.check(["--timeout", "0"]).status == 64)
    }
}
