import Foundation
import Testing

@Suite struct MergeCommandTests {
    @Test func oneCassetteAnswersWhatTwoHaveRecorded() throws {
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
        #expect(again.status == 1 && again.errors.contains("replaces no file"), "\(again.errors)")
        #expect(try Wiretape.run(["merge", folder.file("x.json"), folder.file("none.json")]).status == 1)
        #expect(!folder.exists("x.json"))
    }
}
