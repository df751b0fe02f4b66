import Foundation
import Testing
import TapeTestSupport

/// The ways in which a run of the real program could wrongly report a clean run.
@Suite struct FalseCleanRunTests {
    private let folder: TemporaryFolder
    private let origin: ExternalProgram
    private let url: String

    /// A cassette with `/a`, `/a` and `/b`, and its origin, which would answer 4 next.
    init() throws {
        self.folder = try TemporaryFolder()
        let (origin, port) = try Python.origin("counting_origin.py")
        self.origin = origin
        self.url = "http://127.0.0.1:\(port)"
        let end = try Wiretape.run(["record", folder.file("t.json"), "--"] + Curl.get(self.url + "/a", self.url + "/a", self.url + "/b"))
        #expect(end.status == 0 && end.outputText == "1\n2\n3\n", "\(end.errors)")
    }

    private func replay(_ options: [String] = [], command: String = "replay", _ child: [String]) throws -> ExternalProgram.Ended {
        defer { self.origin.stop() }
        return try Wiretape.run([command, self.folder.file("t.json")] + options + ["--"] + child)
    }

    private func all() -> [String] { Curl.get(self.url + "/a", self.url + "/a", self.url + "/b") }

    @Test func theFirstRecordingIsNotServedForEver() throws {
        let end = try self.replay(["--fail-on", "miss,unused,order"], self.all())
        #expect(end.status == 0 && end.outputText == "1\n2\n3\n", "\(end.errors)")
    }

    @Test func aUsedUpExchangeIsNotServedAgain() throws {
        let end = try self.replay([], self.all() + [self.url + "/b"])
        #expect(end.status == 3 && end.outputText.hasPrefix("1\n2\n3\nwiretape: miss: the only recorded exchange"), "\(end.outputText)")
    }

    @Test(arguments: ["replay", "run"])
    func aMissIsNotForwardedAndFailsThoughTheCommandDoesNot(command: String) throws {
        let before = try self.folder.read("t.json")
        let end = try self.replay(command: command, ["sh", "-c", Curl.line(self.url + "/new") + "; exit 0"])
        #expect(end.status == 3 && end.outputText.hasPrefix("wiretape: miss: no recorded exchange answers"), "\(end.errors)")
        #expect(try self.folder.read("t.json") == before, "a miss was recorded")
    }

    @Test func anotherBodyIsAnotherRequest() throws {
        let end = try self.replay([], Curl.get(self.url + "/b") + ["-X", "GET", "-d", "x"])
        #expect(end.status == 3, "\(end.errors)")
    }

    @Test func unusedExchangesFailIfTheyAreNamed() throws {
        let end = try self.replay(["--fail-on", "unused"], Curl.get(self.url + "/a"))
        #expect(end.status == 4 && end.errors.contains("unused: exchange 2") && end.errors.contains("unused: exchange 3"), "\(end.errors)")
    }

    @Test func unusedExchangesAreReported() throws {
        let report = self.folder.file("r.json")
        let end = try self.replay(["--report", report], Curl.get(self.url + "/a"))
        #expect(end.status == 0 && end.errors.contains("replayed 1 of 3 exchanges") && end.errors.contains("2 unused"), "\(end.errors)")
        let text = String(decoding: try TemporaryFolder.contents(report), as: UTF8.self)
        #expect(text.contains("\"clean\": false") && text.contains("\"flaws\": [\"unused\"]"), "\(text)")
    }

    @Test func anotherOrderFailsWhereItIsStrict() throws {
        let end = try self.replay(["--order", "strict"], Curl.get(self.url + "/b"))
        #expect(end.status == 5, "\(end.errors)")
    }

    @Test func aReportDoesNotTakeTheVerdictsPlace() throws {
        let report = self.folder.file("r.xml")
        let end = try self.replay(["--report", report], Curl.get(self.url + "/new"))
        #expect(end.status == 3)
        #expect(String(decoding: try TemporaryFolder.contents(report), as: UTF8.self).contains("<failure type=\"miss\""))
    }

    @Test func aReportThatCannotBeWrittenFails() throws {
        let end = try self.replay(["--report", self.folder.file("none/r.json")], self.all())
        #expect(end.status == 1 && end.errors.contains("cannot be written"), "\(end.errors)")
    }

    @Test func aClientThatLeftIsNoHit() throws {
        let end = try self.replay(
            ["--latency", "60s"], ["sh", "-c", Curl.line(self.url + "/a").replacing("--max-time 20", with: "--max-time 0.5") + "; exit 0"])
        #expect(end.status == 1 && end.errors.contains("not served: exchange 1"), "\(end.errors)")
        #expect(end.errors.contains("replayed 0 of 3 exchanges"), "\(end.errors)")
    }

    @Test func anEmptyCassetteAnswersNothing() throws {
        defer { self.origin.stop() }
        let empty = try self.folder.write(Array("{\n  \"wiretape\": 1,\n  \"interactions\": []\n}\n".utf8), to: "e.json")
        for command in ["replay", "run"] {
            let end = try Wiretape.run([command, empty, "--"] + Curl.get(self.url + "/a"))
            #expect(end.status == 3 && !end.outputText.hasPrefix("4"), "\(end.errors)")
        }
    }

    @Test func aCassetteThatIsNotThereIsNoReplay() throws {
        defer { self.origin.stop() }
        let end = try Wiretape.run(["replay", self.folder.file("none.json"), "--"] + Curl.get(self.url + "/a"))
        #expect(end.status == 1 && end.outputText.isEmpty, "\(end.outputText)")
    }

    @Test func anEmptyFileIsNoCassetteToReadAndIsRecordedLikeNone() throws {
        defer { self.origin.stop() }
        let empty = try self.folder.write([], to: "empty.json")
        let merged = self.folder.file("merged.json")
        let readers = [
            ["replay", empty, "--", "true"], ["inspect", empty], ["verify", empty], ["export", empty, "--har"], ["decode", empty],
            ["merge", merged, self.folder.file("t.json"), empty],
        ]
        for arguments in readers {
            let end = try Wiretape.run(arguments)
            #expect(end.status != 0, "\(arguments)")
            #expect(end.errors.contains("\"\(empty)\" is an empty file, not a cassette: record it"), "\(arguments): \(end.errors)")
            #expect(try self.folder.read("empty.json").isEmpty, "\(arguments) has changed the file")
        }
        let recorded = try Wiretape.run(["run", empty, "--"] + Curl.get(self.url + "/a"))
        #expect(recorded.status == 0 && recorded.outputText == "4\n", "\(recorded.errors)")
        let replayed = try Wiretape.run(["replay", empty, "--"] + Curl.get(self.url + "/a"))
        #expect(replayed.status == 0 && replayed.outputText == "4\n", "\(replayed.errors)")
    }

    @Test func aTornCassetteIsNotWhole() throws {
        let whole = try self.folder.read("t.json")
        _ = try self.folder.write(whole.prefix(whole.count - 120), to: "t.json")
        let report = self.folder.file("r.json")
        let end = try self.replay(["--report", report], self.all())
        #expect(end.status == 1 && end.errors.contains("torn"), "\(end.errors)")
        #expect(String(decoding: try TemporaryFolder.contents(report), as: UTF8.self).contains("\"damage\""))
    }

    /// Follows the advice of a miss literally.
    @Test func theRuleThatAMissNamesMakesItAHit() throws {
        defer { self.origin.stop() }
        let path = self.folder.file("t.json")
        let miss = try Wiretape.run(["replay", path, "--"] + Curl.get(self.url + "/b?ts=1"))
        #expect(
            miss.status == 3 && miss.errors.contains(": wiretape replay \(path) --ignore query:ts -- "), "\(miss.errors)")
        let hit = try Wiretape.run(["replay", path, "--ignore", "query:ts", "--"] + Curl.get(self.url + "/b?ts=1"))
        #expect(hit.status == 0 && hit.outputText == "3\n", "\(hit.errors)")
        #expect(miss.errors.contains("to record it: wiretape run \(path) --mode new-episodes -- "), "\(miss.errors)")
        let recorded = try Wiretape.run(["run", "--mode", "new-episodes", path, "--"] + Curl.get(self.url + "/b?ts=1"))
        #expect(recorded.status == 0 && recorded.outputText == "4\n", "\(recorded.errors)")
        let again = try Wiretape.run(["replay", path, "--"] + Curl.get(self.url + "/b?ts=1"))
        #expect(again.status == 0 && again.outputText == "4\n", "\(again.errors)")
    }
}
