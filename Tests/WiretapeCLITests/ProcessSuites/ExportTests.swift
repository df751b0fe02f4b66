import Foundation
import Testing

/// `export --har`, read by a program that knows nothing of Wiretape.
@Suite struct ExportTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("odd.json")
    }

    @Test func everyOddAnswerMakesAnEntryThatTheSpecificationAllows() throws {
        let names = try Python.run("odd_origin.py", ["--list"]).outputText.split(separator: "\n")
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        // curl ends with an error of its own where an answer is cut.
        let urls = names.map { "http://127.0.0.1:\(origin.port)/\($0)" }
        let script = "for url; do \(Curl.line()) --output /dev/null \"$url\"; done; \(Curl.line()) --cookie 'a=1; b=2' --form 'x=y' '\(urls[0])?q=%ED%95%9C&r'"
        let record = try Wiretape.run(["record", self.cassette, "--", "sh", "-c", script, "sh"] + urls)
        #expect(record.status == 0, "\(record.errors)")

        let export = try Wiretape.run(["export", self.cassette, "--har"])
        #expect(export.status == 0 && export.errors.isEmpty, "\(export.errors)")
        try self.folder.write(export.output, to: "odd.har")
        let check = try Python.run("check_har.py", [self.folder.file("odd.har"), "\(names.count + 1)"])
        #expect(check.status == 0, "\(check.errors)")

        let toFile = try Wiretape.run(["export", self.cassette, "--har", "--output", self.folder.file("file.har")])
        #expect(toFile.status == 0 && toFile.output.isEmpty)
        #expect(try self.folder.read("file.har") == export.output)
    }

    @Test func whatCannotBeReadOrWrittenIsTold() throws {
        let missing = try Wiretape.run(["export", self.cassette, "--har"])
        #expect(missing.status == 1)
        #expect(missing.errors.hasPrefix("wiretape: ") && missing.errors.contains("odd.json"), "\(missing.errors)")
        try self.folder.write("{\"wiretape\": 1, \"interactions\": []}\n".utf8, to: "odd.json")
        let unwritable = try Wiretape.run(["export", self.cassette, "--har", "-o", self.folder.file("none/odd.har")])
        #expect(unwritable.status == 1)
        #expect(unwritable.errors.contains("odd.har\" cannot be written (No such file or directory)"), "\(unwritable.errors)")
    }
}
