import Foundation
import Testing

@Suite struct PruneCommandTests {
    @Test func whatAReportNamesGoes() throws {
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
                && dry.outputText == "- 1 GET \(origin.url("large.bin"))\nwould remove 1 exchange of \"\(cassette)\"; 1 would stay.\n",
            "\(dry.outputText)")
        #expect(try folder.read("pets.json") == before)

        let end = try Wiretape.run(["prune", cassette, "--unused-from", folder.file("report.json")])
        #expect(
            end.status == 0 && end.outputText.hasSuffix("removed 1 exchange of \"\(cassette)\" and 1 file beside it; 1 left.\n"),
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
        #expect(try Wiretape.run(["replay", cassette, "--report", report, "--", "true"]).status == 0)
        try origin.record(cassette, [[origin.url("a.json")]])
        let end = try Wiretape.run(["prune", cassette, "--unused-from", report])
        #expect(end.status == 1 && end.errors.contains("the id 1 is another one in"), "\(end.errors)")
        #expect(try CassetteFile.urls(cassette).count == 1)
        #expect(try Wiretape.run(["replay", cassette, "--report", report, "--", "true"]).status == 0)
        #expect(try Wiretape.run(["prune", cassette, "--unused-from", report]).status == 0)
        #expect(try CassetteFile.urls(cassette) == [])
    }
}
