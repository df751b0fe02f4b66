import ArgumentParser
import CassetteModel
import CassettePlayback
import Foundation
import TapeBytes
@testable import TapeRecorder
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct CareCommandTests {
    @Test func failureHasItsOwnExitCode() throws {
        #expect(try CareCommand.run { 3 } == 3)
        #expect(throws: ExitCode(2)) { try CareCommand.run { throw CassetteError(.notFound, "\"a\" is not there: name another.") } }
        #expect(throws: ExitCode(1)) { try CareCommand.run(failure: ExitStatus.failed) { throw TrustError("no: do this.") } }
    }

    @Test func aTornCassetteIsReadAsFarAsItGoes() throws {
        let folder = try TemporaryFolder()
        let text = cassetteText([interactionText(1), interactionText(2)])
        try folder.write(text.dropLast(30), to: "a.json")
        #expect(try CareCommand.cassette(folder.file("a.json")).count == 1)
        #expect(throws: CassetteError.self) { _ = try CareCommand.cassette(folder.file("none.json")) }
    }

    @Test func theDigestIsSHA256() {
        var digest = CareCommand.digest()
        Array("abc".utf8).withUnsafeBytes { digest.update($0) }
        #expect(digest.finalize().prefix(4) == [0xBA, 0x78, 0x16, 0xBF])
    }
}

/// `decode`: bodies that were kept raw become readable.
@Suite struct DecodeCommandTests {
    /// An exchange must not be dropped silently.
    @Test func lostExchangeIsReported() throws {
        let text = cassetteText([interactionText(1), interactionText(2)])
        try self.folder.write(text.dropLast(30), to: "torn.json")
        let end = try Wiretape.run(["decode", self.folder.file("torn.json")])
        #expect(end.status == 0 && end.outputText.hasPrefix("decoded 0 exchanges"))
        #expect(end.errors.contains("torn: 1 exchange lost") && end.errors.contains("torn.json.torn-1"), "\(end.errors)")
    }

    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    private func replayedBody() throws -> [UInt8] {
        let end = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get("http://pets.test/1"))
        try #require(end.status == 0, "\(end.errors)")
        return end.output
    }

    @Test func aRawBodyBecomesReadableAndReplaysTheSame() throws {
        try #require(try Python.run("undeveloped.py", [self.cassette]).status == 0)
        try CassetteFile.expectValid(self.cassette)
        let raw = try self.replayedBody()
        #expect(raw.starts(with: [0x1f, 0x8b]))

        let end = try Wiretape.run(["decode", self.cassette])
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.outputText == "decoded 1 exchange in \"\(self.cassette)\".\n")
        let response = try #require(try CassetteFile.interactions(self.cassette).first?["response"] as? [String: Any])
        let body = try #require(response["body"] as? [String: Any])
        #expect(body["raw"] == nil && body["codings"] != nil)
        #expect((body["json"] as? [String: Any])?["name"] as? String == "Bori")
        #expect(!self.folder.exists("pets.bodies/undeveloped.raw"))
        try CassetteFile.expectValid(self.cassette)
        #expect(try self.replayedBody() == raw)

        #expect(try Wiretape.run(["decode", self.cassette]).outputText == "decoded 0 exchanges in \"\(self.cassette)\".\n")
    }

    @Test func missingCassetteIsReported() throws {
        let end = try Wiretape.run(["decode", self.cassette])
        #expect(end.status == 1)
        #expect(end.errors.hasPrefix("wiretape: ") && end.errors.contains(self.cassette), "\(end.errors)")
    }
}

@Suite struct MergeCommandTests {
    @Test func oneMergedCassetteAnswersBothRecordings() throws {
        let folder = try TemporaryFolder()
        let large = String(repeating: "0123456789abcdef\u{1}", count: 20_000)
        let origin = try DriftingOrigin(["large.bin": large, "a.json": #"{"a":1}"#])
        try origin.record(folder.file("one.json"), [[origin.url("large.bin")]])
        try origin.record(folder.file("two.json"), [[origin.url("a.json")]])
        origin.stop()
        let all = folder.file("all.json")
        let end = try Wiretape.run(["merge", all, folder.file("two.json"), folder.file("one.json")])
        #expect(
            end.status == 0 && end.outputText == "merged 2 exchanges of 2 cassettes into \"\(all)\".\n", "\(end.outputText)\(end.errors)")
        try CassetteFile.expectValid(all)
        #expect(try CassetteFile.urls(all) == [origin.url("large.bin"), origin.url("a.json")])
        let replay = try Wiretape.run(["replay", all, "--"] + Curl.get(origin.url("a.json"), origin.url("large.bin")))
        #expect(replay.status == 0 && replay.outputText == #"{"a":1}"# + large, "\(replay.errors)")

        let again = try Wiretape.run(["merge", all, folder.file("one.json")])
        #expect(again.status == 1 && again.errors.contains("never replaces a file"), "\(again.errors)")
        #expect(try Wiretape.run(["merge", folder.file("x.json"), folder.file("none.json")]).status == 1)
        #expect(!folder.exists("x.json"))
    }

    /// Each recording numbers its secrets from 1.
    @Test func equalPlaceholdersOfTwoRecordingsAreToldApart() throws {
        let folder = try TemporaryFolder()
        let names = ["one.json", "two.json"]
        for (index, name) in names.enumerated() {
            let origin = try DriftingOrigin(["a": #"{"token":"secret-\#(index)-kT7pQ2xV9m","user":\#(index)}"#])
            try origin.record(folder.file(name), [[origin.url("a?n=\(index)"), "-H", "X-Api-Key: key-\(index)-kT7pQ2xV9m"]])
            origin.stop()
            #expect(try Wiretape.run(["redact", folder.file(name)]).status == 0)
        }
        let all = folder.file("all.json")
        let end = try Wiretape.run(["merge", all] + names.map(folder.file))
        #expect(
            end.status == 0 && end.errors.contains("the placeholders of \"\(folder.file("two.json"))\" have other numbers"), "\(end.errors)"
        )
        try CassetteFile.expectValid(all)
        let text = String(decoding: try folder.read("all.json"), as: UTF8.self)
        #expect(text.contains("{{token:1}}") && text.contains("{{token:2}}"), "\(text)")
        #expect(text.contains("{{api-key:1}}") && text.contains("{{api-key:2}}"), "\(text)")
        #expect(try Wiretape.run(["verify", all]).status == 0)
        #expect(try String(decoding: folder.read("two.json"), as: UTF8.self).contains("{{token:1}}"))

        // Copies of one recording keep their numbers.
        let copies = try Wiretape.run(["merge", folder.file("same.json"), folder.file("one.json"), folder.file("one.json")])
        #expect(copies.status == 0 && !copies.errors.contains("other numbers"), "\(copies.errors)")
    }
}

@Suite struct RepeatedMergeTests {
    /// Two answers with secrets of their own, one of them in a file.
    private func record(_ name: String, in folder: TemporaryFolder) throws {
        let padding = String(repeating: "0123456789abcdef", count: 20_000)
        let origin = try DriftingOrigin([
            "a": #"{"token":"secret-\#(name)-kT7pQ2xV9m","user":"\#(name)"}"#,
            "large": #"{"token":"other-\#(name)-Zq9c94Kx5c","user":"\#(name)","padding":"\#(padding)"}"#,
        ])
        let key = ["-H", "X-Api-Key: key-\(name)-kT7pQ2xV9m"]
        try origin.record(folder.file("\(name).json"), ["a", "large"].map { [origin.url("\($0)?n=\(name)")] + key })
        origin.stop()
        #expect(try Wiretape.run(["redact", folder.file("\(name).json")]).status == 0)
    }

    private func merge(_ output: String, _ inputs: [String], in folder: TemporaryFolder) throws -> [String] {
        let end = try Wiretape.run(["merge", folder.file("\(output).json")] + inputs.map { folder.file("\($0).json") })
        #expect(end.status == 0, "\(end.errors)")
        try CassetteFile.expectValid(folder.file("\(output).json"))
        #expect(try Wiretape.run(["verify", folder.file("\(output).json")]).status == 0)
        return try CassetteFile.urls(folder.file("\(output).json")).map { $0.components(separatedBy: "/").last ?? "" }
    }

    /// A merge gives the placeholders of one cassette other numbers.
    @Test func anExchangeOfSeveralMergesIsWrittenOnce() throws {
        let folder = try TemporaryFolder()
        for name in ["one", "two", "three"] { try self.record(name, in: folder) }
        _ = try self.merge("ab", ["one", "two"], in: folder)
        _ = try self.merge("cb", ["three", "two"], in: folder)
        let two = ["a?n=one", "large?n=one", "a?n=two", "large?n=two"]
        let three = two + ["a?n=three", "large?n=three"]
        for (output, inputs, urls) in [
            ("again", ["ab", "two"], two), ("reversed", ["two", "ab"], two), ("all", ["ab", "cb"], three), ("other", ["cb", "ab"], three),
            ("every", ["two", "cb", "one", "ab", "three"], three),
        ] {
            #expect(try self.merge(output, inputs, in: folder) == urls, "\(output)")
            // Each recording has two tokens and a key of its own.
            let text = String(decoding: try folder.read("\(output).json"), as: UTF8.self)
            let keys = Set(text.split(separator: "{{api-key:").dropFirst().map { $0.prefix { $0 != "}" } })
            #expect(keys.count == urls.count / 2, "\(output): \(keys)")
        }
    }
}

@Suite struct PruneCommandTests {
    @Test func exchangesOfAReportArePruned() throws {
        let folder = try TemporaryFolder()
        let cassette = folder.file("pets.json")
        let origin = try DriftingOrigin(["large.bin": String(repeating: "0123456789abcdef\u{1}", count: 20_000), "a.json": "{}"])
        try origin.record(cassette, [[origin.url("large.bin")], [origin.url("a.json")]])
        origin.stop()
        try folder.write(
            #"{"wiretapeReport":1,"unused":1,"unusedExchanges":[{"exchange":1,"id":1,"request":"GET"}]}"#.utf8, to: "report.json")
        let before = try folder.read("pets.json")
        let dry = try Wiretape.run(["prune", cassette, "--unused-from", folder.file("report.json"), "--dry-run"])
        #expect(
            dry.status == 0
                && dry.outputText == "- 1 GET \(origin.url("large.bin"))\nwould remove 1 exchange from \"\(cassette)\"; 1 would stay.\n",
            "\(dry.outputText)")
        #expect(try folder.read("pets.json") == before)

        let end = try Wiretape.run(["prune", cassette, "--unused-from", folder.file("report.json")])
        #expect(
            end.status == 0 && end.outputText.hasSuffix("removed 1 exchange from \"\(cassette)\" and 1 file beside it; 1 left.\n"),
            "\(end.outputText)\(end.errors)")
        #expect(try CassetteFile.urls(cassette) == [origin.url("a.json")])
        #expect(try folder.names(in: "pets.bodies") == [])
        try CassetteFile.expectValid(cassette)

        let again = try Wiretape.run(["prune", cassette, "--unused-from", folder.file("report.json")])
        #expect(again.status == 1 && again.errors.contains("no exchange with the id 1"), "\(again.errors)")
        let none = try Wiretape.run(["prune", cassette, "--unused-from", folder.file("none.json")])
        #expect(none.status == 1 && none.errors.contains("none.json"), "\(none.errors)")
    }

    @Test func aReportOfAnotherRecordingIsRefused() throws {
        let folder = try TemporaryFolder()
        let (cassette, report) = (folder.file("pets.json"), folder.file("report.json"))
        let origin = try DriftingOrigin(["a.json": "{}"])
        defer { origin.stop() }
        try origin.record(cassette, [[origin.url("a.json")]])
        #expect(try Wiretape.run(["replay", cassette, "--report", report, "--fail-on", "none", "--", "true"]).status == 0)
        try origin.record(cassette, [[origin.url("a.json")]])
        let end = try Wiretape.run(["prune", cassette, "--unused-from", report])
        #expect(end.status == 1 && end.errors.contains("the id 1 is a different one in"), "\(end.errors)")
        #expect(try CassetteFile.urls(cassette).count == 1)
        #expect(try Wiretape.run(["replay", cassette, "--report", report, "--fail-on", "none", "--", "true"]).status == 0)
        #expect(try Wiretape.run(["prune", cassette, "--unused-from", report]).status == 0)
        #expect(try CassetteFile.urls(cassette) == [])
    }
}

@Suite struct RedactCommandTests {
    @Test func theSummaryTellsKindsAndCountsAndNeverValues() throws {
        var outcome = CassetteRedaction.Outcome()
        outcome.exchanges = 3
        let command = try RedactCommand.parse(["pets.json"])
        #expect(command.summary(outcome) == "nothing to redact in 3 exchanges of \"pets.json\".")
        outcome.changed = 2
        outcome.places = 5
        outcome.kinds = ["jwt": 1, "cookie": 4]
        #expect(command.summary(outcome) == "redacted 5 places in 2 of 3 exchanges of \"pets.json\": cookie 4, jwt 1.")
        let dry = try RedactCommand.parse(["pets.json", "--dry-run"])
        #expect(dry.summary(outcome) == "would redact 5 places in 2 of 3 exchanges of \"pets.json\": cookie 4, jwt 1.")
    }

    @Test func aCassetteThatIsNotThereIsAnError() throws {
        let end = try Wiretape.run(["redact", "/nowhere/pets.json"])
        #expect(end.status == 1)
        #expect(end.errors.contains("\"/nowhere/pets.json\""), "\(end.errors)")
    }

    @Test func theReasonToFailIsUnsearchedOrNone() throws {
        #expect(try RedactCommand.parse(["pets.json", "--fail-on", "unsearched"]).failOn == .unsearched)
        #expect(try RedactCommand.parse(["pets.json"]).failOn == .none)
        #expect(throws: (any Error).self) { try RedactCommand.parse(["pets.json", "--fail-on", "miss"]) }
    }

    @Test func lintOfATornCassetteFails() throws {
        let folder = try TemporaryFolder()
        try RecordedExchanges.write([.sample(1), .sample(2, at: 1)], to: folder.file("pets.json"))
        #expect(try Wiretape.run(["lint", folder.file("pets.json")]).status == 0)
        try folder.write(folder.read("pets.json").dropLast(60), to: "pets.json")
        let end = try Wiretape.run(["lint", folder.file("pets.json")])
        #expect(end.status != 0 && end.errors.contains("so the rest was not checked"), "\(end.errors)")
    }

    @Test func lintTakesAWholeType() throws {
        for type in ["json", "", "/", "application/", ";charset=utf-8"] {
            #expect(throws: (any Error).self) { try LintCommand.parse(["notes.txt", "--type", type]) }
        }
        for type in ["application/json", "multipart/form-data; boundary=X"] { _ = try LintCommand.parse(["notes.txt", "--type", type]) }
    }

    @Test func aRecordingOfAnotherToolIsNotDecoded() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("t.har")
        try Data(#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"entries":[]}}"#.utf8).write(to: URL(fileURLWithPath: path))
        let end = try Wiretape.run(["decode", path])
        #expect(end.status == 1 && end.errors.contains("is a recording of HAR, and not a cassette"), "\(end.errors)")
    }

    @Test func anInvalidRuleIsWrongUsage() throws {
        let end = try Wiretape.run(["redact", "pets.json", "--redact", "nowhere:x"])
        #expect(end.status == 64)
    }
}
