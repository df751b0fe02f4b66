import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import WiretapeCLI

@Suite struct ImportCommandTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func archive(_ port: Int, missing: Bool = false) throws -> String {
        let content = missing ? #"{"size": 5}"# : #"{"size": 5, "text": "hello"}"#
        let text = """
            {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "entries": [
             {"startedDateTime": "2024-01-02T03:04:05.678Z", "time": 1, "request": {"method": "GET", "url": "http://127.0.0.1:\(port)/pets", "httpVersion": "HTTP/1.1",
              "headers": [], "queryString": [], "cookies": [], "headersSize": -1, "bodySize": 0},
              "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "headers": [{"name": "Content-Length", "value": "5"}], "cookies": [],
              "content": \(content), "redirectURL": "", "headersSize": -1, "bodySize": 5}, "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0}}]}}
            """
        return try self.folder.write(text.utf8, to: missing ? "missing.har" : "in.har")
    }

    /// No server listens on port 1: the answer comes from the archive.
    @Test func anImportedArchiveReplaysAtOnce() throws {
        let cassette = self.folder.file("out.json")
        let done = try Wiretape.run(["import", self.archive(1), "-o", cassette])
        #expect(done.status == 0 && done.errors.isEmpty, "\(done.errors)")
        #expect(done.outputText == "imported 1 exchange of 1 file (HAR) into \"\(cassette)\".\n")
        let replay = try Wiretape.run(["replay", cassette, "--", "sh", "-c", "\(Curl.line()) http://127.0.0.1:1/pets"])
        #expect(replay.status == 0 && replay.outputText == "hello", "\(replay.errors)")
    }

    @Test func lossesAreReportedAndFailAStrictImport() throws {
        let archive = try self.archive(1, missing: true)
        let told = try Wiretape.run(["import", archive, "-o", self.folder.file("out.json"), "--json"])
        #expect(told.status == 0 && told.errors.hasPrefix("wiretape: once: an answer lacks its body"), "\(told.errors)")
        let report = try JSONDocument(told.output).root
        #expect(report["exchanges"]?.int == 1 && report["files"]?.elements.map { $0["kind"]?.string } == ["har"])
        #expect(report["losses"]?.elements.map { $0["kind"]?.string } == ["responseBody"])
        let strict = try Wiretape.run(["import", archive, "-o", self.folder.file("strict.json"), "--strict"])
        #expect(strict.status == 1 && strict.errors.contains("was not written"), "\(strict.errors)")
        #expect(!self.folder.exists("strict.json"))
    }

    @Test func unknownFormatIsReportedAndLeavesNothing() throws {
        let path = try self.folder.write("{\"a\": 1}".utf8, to: "in.json")
        let failed = try Wiretape.run(["import", path, "-o", self.folder.file("out.json")])
        #expect(failed.status == 1 && failed.errors.contains("\"\(path)\" is not a recording that is known here"), "\(failed.errors)")
        #expect(try self.folder.names() == ["in.json"])
        let usage = try Wiretape.run(["import", path])
        #expect(usage.status == 64)
    }

    @Test func anUnreadableFileFailsTheCommandAndNotTheImport() throws {
        let broken = try self.folder.write("{\"a\": 1}".utf8, to: "broken.json")
        let (archive, cassette) = (try self.archive(1), self.folder.file("out.json"))
        let done = try Wiretape.run(["import", broken, archive, "-o", cassette, "--json"])
        #expect(done.status == 1 && done.errors.contains("\"\(broken)\" is not a recording"), "\(done.errors)")
        let report = try JSONDocument(done.output).root
        #expect(report["exchanges"]?.int == 1 && report["failures"]?.elements.map { $0["file"]?.string } == [broken])
        #expect(try Wiretape.run(["import", broken, archive, "-o", self.folder.file("strict.json"), "--strict"]).status == 1)
        #expect(self.folder.exists("out.json") && !self.folder.exists("strict.json"))
    }

    @Test func valuesOfPlaceholdersArePassed() throws {
        let text = """
            http_interactions:
            - request: {method: get, uri: <BASE>/pets, body: {encoding: UTF-8, string: ''}, headers: {}}
              response: {status: {code: 200, message: OK}, headers: {}, body: {encoding: UTF-8, string: hello}}
            """
        let recording = try self.folder.write(text.utf8, to: "c.yml")
        let cassette = self.folder.file("out.json")
        let done = try Wiretape.run(["import", recording, "-o", cassette, "--placeholder", "BASE=http://127.0.0.1:1"])
        #expect(done.status == 0, "\(done.errors)")
        let replay = try Wiretape.run(["replay", cassette, "--", "sh", "-c", "\(Curl.line()) http://127.0.0.1:1/pets"])
        #expect(replay.status == 0 && replay.outputText == "hello", "\(replay.errors)")
        #expect(try Wiretape.run(["import", recording, "-o", cassette, "--placeholder", "BASE"]).status == 64)
        let twice = try Wiretape.run(["import", recording, "-o", cassette, "--placeholder", "BASE=1", "--placeholder", "BASE=2"])
        #expect(twice.status == 64 && twice.errors.contains("gives \"BASE\" two values"), "\(twice.errors)")
    }

    @Test func chosenExchangesAreExported() throws {
        let cassette = self.folder.file("out.json")
        _ = try Wiretape.run(["import", self.archive(1), "-o", cassette])
        let none = try Wiretape.run(["export", cassette, "--har", "--filter", "~m POST"])
        #expect(try JSONDocument(none.output).root["log"]?["entries"]?.elements.map { $0 }.isEmpty == true)
        let curl = try Wiretape.run(["export", cassette, "1", "--curl"])
        #expect(curl.outputText.contains("curl 'http://127.0.0.1:1/pets'"), "\(curl.outputText)")
        let archive = try Wiretape.run(["export", cassette, "--warc"])
        #expect(archive.outputText.hasPrefix("WARC/1.1\r\n") && archive.outputText.contains("WARC-Type: response\r\n"), "\(archive.errors)")
        #expect(try Wiretape.run(["export", cassette, "--warc", "--files", "x"]).status == 64)
        let missing = try Wiretape.run(["export", cassette, "7", "--curl"])
        #expect(missing.status == 1 && missing.errors.contains("has no exchange 7, but 1"), "\(missing.errors)")
        let two = try Wiretape.run(["export", cassette, "--curl", "--har"])
        #expect(two.status == 64)
    }
}
