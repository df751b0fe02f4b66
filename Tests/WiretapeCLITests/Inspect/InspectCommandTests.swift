import ArgumentParser
import Foundation
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct InspectCommandTests {
    @Test func takesAFileANumberAndAForm() throws {
        let list = try InspectCommand.parse(["pets.json", "--json"])
        #expect(list.number == nil)
        #expect(list.json)
        let body = try InspectCommand.parse(["pets.json", "3", "--body", "request"])
        #expect(body.number == 3)
        #expect(body.body == .request)
        let part = try InspectCommand.parse(["pets.json", "3", "--body", "request", "--part", "avatar", "--raw"])
        #expect(part.part == "avatar" && part.raw)
        #expect(try InspectCommand.parse(["pets.json", "--filter", "~m POST & !~c 201", "--json"]).filter == "~m POST & !~c 201")
        #expect(try InspectCommand.parse(["pets.json", "--extract", "out", "--overwrite", "--filter", "~s"]).overwrite)
        #expect(try InspectCommand.parse(["pets.json", "3", "--lint", "--json"]).lint)
    }

    @Test(arguments: [
        ["pets.json", "--body", "response"], ["pets.json", "x"],
        ["pets.json", "1", "--body", "both"], [], ["pets.json", "--part", "1"], ["pets.json", "1", "--raw"],
        ["pets.json", "1", "--raw", "--json", "--body", "request"], ["pets.json", "1", "--overwrite"],
        ["pets.json", "1", "--filter", "~q"],
        ["pets.json", "--filter", "~x"], ["pets.json", "1", "--lint", "--part", "1"],
        ["pets.json", "1", "--extract", "x", "--body", "request"],
        ["pets.json", "--extract", "x", "--lint"],
    ])
    func refusesWhatMeansNothing(arguments: [String]) {
        #expect(throws: (any Error).self) { try InspectCommand.parse(arguments) }
    }

    @Test func aCassetteThatIsMissingEndsWithOne() throws {
        let folder = try TemporaryFolder()
        let command = try InspectCommand.parse(["\(folder.path)/none.json"])
        #expect(throws: ExitCode(ExitStatus.failed)) { try command.inspect() }
    }

    @Test func aNumberThatIsMissingEndsWithOne() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(cassetteText([]), to: "pets.json")
        #expect(throws: ExitCode(ExitStatus.failed)) { try InspectCommand.parse([path, "4"]).inspect() }
    }
}

/// `show --curl`: the command runs, and the origin must get the same request as during the recording.
@Suite struct ShowCommandTests {
    private struct Kept: Decodable, Equatable {
        var method: String
        var target: String
        var fields: [String]
        var body: String

        /// Replaces a form's boundary, which curl generates anew, and the lengths that depend on it.
        var withoutBoundary: Kept {
            guard let type = self.fields.first(where: { $0.hasPrefix("Content-Type: multipart/form-data; boundary=") }) else { return self }
            let boundary = type.components(separatedBy: "boundary=")[1]
            var copy = self
            copy.fields = self.fields.map { $0.replacingOccurrences(of: boundary, with: "BOUNDARY") }
            let bytes = String(decoding: Data(base64Encoded: self.body) ?? Data(), as: Unicode.ISOLatin1.self)
            copy.body = bytes.replacingOccurrences(of: boundary, with: "BOUNDARY")
            return copy
        }
    }

    @Test(arguments: [
        #"-F title=우리 -F 'meta={"a":"b"};type=application/json' -F 'odd="@\"x\\";type=text/plain; charset=utf-8' -F 'file=@bytes;filename="그림 \"1\".png";type=image/png' -F 'empty=' -F 'lines=<lines'"#,
        #"-F 'file=@bytes' -F 'file=@lines;type=text/x-own'"#,
        "--data-binary @octets -H 'Content-Type: application/octet-stream'",
        "-d 'a=b%20c&d=이름' -d \"q='\"",
        "-T bytes -H 'Transfer-Encoding: chunked'",
        "-X DELETE", "-X PATCH --data-raw 'two\nlines\ttab'", "-d ''", "--head", "--http1.0",
        "-A '' -H 'Accept:' -H 'X-Empty;' -H \"X-Quote: it's \\\"a\\\" \\$b\" -H 'X-Two: 1' -H 'X-Two: 2'",
        "--compressed -H 'Cookie: a=1; b=2'", "--data-binary @lines -H 'Content-Type:'",
    ])
    func theOriginGetsTheSameAgain(options: String) throws {
        try self.repeats("curl -q --silent --show-error --max-time 20 \(options) \"$1pets?a=b\"")
    }

    @Test func oddURLsStayAsTheyAre() throws {
        try self.repeats("curl -q --silent --show-error --max-time 20 --globoff --path-as-is \"$1a/../b/./c?x=[1-3]{a,b}&y='\\$z\"")
    }

    private func repeats(_ script: String) throws {
        let folder = try TemporaryFolder()
        try folder.write((0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 31) }, to: "bytes")
        try folder.write("first\nsecond\r\nthird".utf8, to: "lines")
        let origin = try Python.origin("keeping_origin.py", [folder.file("kept")])
        defer { origin.program.stop() }
        let record = try Wiretape.run(
            ["record", folder.file("pets.json"), "--no-redaction", "--", "sh", "-c", script, "sh", "http://127.0.0.1:\(origin.port)/"],
            directory: folder.path
        )
        #expect(record.status == 0, "\(record.errors)")

        let show = try Wiretape.run(["show", "pets.json", "1", "--curl", "--files", "needed"], directory: folder.path)
        #expect(show.status == 0 && show.errors.isEmpty, "\(show.errors)")
        let again = try ExternalProgram.run("/bin/sh", ["-c", show.outputText], directory: folder.path)
        #expect(again.status == 0, "\(again.errors) of: \(show.outputText)")

        let kept = try String(decoding: folder.read("kept"), as: UTF8.self).split(separator: "\n").map {
            try JSONDecoder().decode(Kept.self, from: Data($0.utf8)).withoutBoundary
        }
        try #require(kept.count == 2)
        #expect(kept[1] == kept[0], "\(show.outputText)")
    }

    @Test func anExactFormHasNoNote() throws {
        let folder = try TemporaryFolder()
        try folder.write(cassetteText([uploadText(FormFixtures.pets)]), to: "pets.json")
        let show = try Wiretape.run(["show", "pets.json", "1", "--curl"], directory: folder.path)
        #expect(
            show.outputText == #"""
                # first, for the files that it sends: wiretape show pets.json 1 --curl --files wiretape-1 > /dev/null
                curl 'http://a/pets' \
                  -H 'User-Agent:' \
                  -H 'Accept:' \
                  -F 'title="이름"' \
                  -F 'meta="{\"kind\":\"cat\"}";type=application/json' \
                  -F 'avatar=@"wiretape-1/1-request-3-a b.png";filename="../../a b.png";type=image/png' \
                  -F 'note="aGVsbG8=";headers="Content-Transfer-Encoding: base64"'

                """#)
    }

    @Test(arguments: [["pets.json", "1"], ["pets.json", "--curl"], ["pets.json", "1", "--curl", "--overwrite"]])
    func refusesWhatMeansNothing(arguments: [String]) {
        #expect(throws: (any Error).self) { try ShowCommand.parse(arguments) }
    }

    @Test func aNumberThatIsMissingEndsWithOne() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(cassetteText([]), to: "pets.json")
        #expect(throws: ExitCode(ExitStatus.failed)) { try ShowCommand.parse([path, "4", "--curl"]).show() }
    }
}

extension Unicode {
    /// Each byte as the character with its number, so that bytes can be replaced like text.
    fileprivate enum ISOLatin1 {}
}

extension String {
    fileprivate init(decoding bytes: Data, as _: Unicode.ISOLatin1.Type) {
        self = String(data: bytes, encoding: .isoLatin1) ?? ""
    }
}
