import Testing

@testable import WiretapeCLI

@Suite struct StandardStreamsTests {
    @Test(arguments: ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"]) func aClosedStreamNeverBecomesTheCassette(closed: String) throws {
        let folder = try TemporaryFolder()
        let tool = try Programs.wiretape()
        let end = try ExternalProgram.run(
            "/bin/sh", ["-c", "exec '\(tool)' record '\(folder.file("a.json"))' -v -- true \(closed)"])
        #expect(end.status == 0)
        let text = String(decoding: try folder.read("a.json"), as: UTF8.self)
        #expect(text.hasPrefix("{\n  \"wiretape\": 1,"), "\(text)")
        #expect(!text.contains("wiretape: "), "\(text)")
    }
}
