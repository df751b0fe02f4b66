import Foundation
import Testing
import TapeTestSupport

/// The cassettes in `Cassettes/` conform to the format, and replay without their server.
@Suite struct SampleTests {
    static let folder = Programs.repository + "/Cassettes"

    @Test(arguments: ["pets.json", "stream.json", "demo.json"])
    func theSampleIsValidAndExports(_ name: String) throws {
        let path = "\(Self.folder)/\(name)"
        try CassetteFile.expectValid(path)
        let folder = try TemporaryFolder()
        let export = try Wiretape.run(["export", path, "--har", "-o", folder.file("x.har")])
        #expect(export.status == 0 && export.errors.isEmpty, "\(export.errors)")
        let check = try Python.run("check_har.py", [folder.file("x.har"), "\(try CassetteFile.interactions(path).count)"])
        #expect(check.status == 0, "\(check.errors)")
    }

    @Test func thePetsPlayWithoutTheirServer() throws {
        let path = "\(Self.folder)/pets.json"
        let before = try TemporaryFolder.contents(path)
        let urls = try CassetteFile.urls(path)
        try #require(urls.count == 2)
        let end = try Wiretape.run(["replay", path, "--"] + Curl.get(urls[0]) + ["--next", "--silent", "--compressed", urls[1]])
        #expect(end.status == 0, "\(end.errors)")
        let half = end.outputText.count / 2
        #expect(end.outputText.hasPrefix("{\n  \"pets\": [\n    {\"id\": 1, \"name\": \"Miso\""), "\(end.outputText)")
        #expect(end.outputText.prefix(half) == end.outputText.suffix(half), "compressed or not, the pets are the same")
        #expect(try TemporaryFolder.contents(path) == before, "a replay changed the cassette")
    }

    @Test func theDemosRequestsAreAllAnsweredFromItsSample() throws {
        let path = "\(Self.folder)/demo.json"
        let url = try #require(try CassetteFile.urls(path).first)
        let origin = url.replacingOccurrences(of: "/pets", with: "")
        let folder = try TemporaryFolder()
        let end = try Wiretape.run(["replay", path, "--", "sh", Programs.repository + "/scripts/demo-requests.sh", origin, folder.path])
        #expect(end.status == 0, "\(end.errors)")
        #expect(try folder.names().filter { $0.hasSuffix(".head") }.count == 9)
        #expect(try folder.read("3-image.body").starts(with: [0x89, 0x50, 0x4e, 0x47]))
    }
}
