import Foundation
import Testing
@testable import WiretapeCLI
import TapeTestSupport

/// The output of a run: for people, for scripts, or nothing.
@Suite struct RunScreenTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    private static func summary(_ errors: String) throws -> [String: Any] {
        let lines = errors.split(separator: "\n").filter { $0.hasPrefix("{") }
        try #require(lines.count == 1, "\(errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(lines[0].utf8)) as? [String: Any])
    }

    @Test func theSummaryForScriptsIsOneLineOfJSON() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        let record = try Self.summary(try Wiretape.run(["record", self.cassette, "--json", "--"] + Curl.get(url, url)).errors)
        #expect(record["cassette"] as? String == self.cassette)
        #expect(record["mode"] as? String == "all")
        #expect(record["recorded"] as? Int == 2)
        #expect(record["lost"] as? Int == 0)
        #expect(record["exit"] as? Int == 0)
        #expect(record["hits"] == nil)

        let replay = try Self.summary(try Wiretape.run(["replay", self.cassette, "--json", "--"] + Curl.get(url, url + "?\"new\"")).errors)
        #expect(replay["hits"] as? Int == 1)
        #expect(replay["misses"] as? Int == 1)
        #expect(replay["unused"] as? Int == 1)
        #expect(replay["exit"] as? Int == 3)
        #expect((replay["reports"] as? [String])?.first?.contains("no recorded exchange answers") == true)
        #expect(replay["recorded"] == nil)
    }

    @Test func quietSaysNothingButErrors() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--quiet", "--"] + Curl.get(url)).errors == "")
        #expect(try Wiretape.run(["replay", self.cassette, "--quiet", "--"] + Curl.get(url)).errors == "")
        let miss = try Wiretape.run(["replay", self.cassette, "-q", "--"] + Curl.get(url + "?new"))
        #expect(miss.status == 3)
        #expect(miss.errors.hasPrefix("wiretape: miss: "), "\(miss.errors)")
        #expect(
            try Wiretape.run(["replay", self.folder.file("none.json"), "-q", "--"] + Curl.get(url)).errors.contains("there is no cassette"))
    }

    @Test func controlCharactersAreSpelledOut() throws {
        let pair = try TerminalPair()
        let terminal = Terminal(pair.descriptor)
        let screen = RunScreen(quiet: false, hasChild: true, output: terminal, errors: terminal)
        screen.complain("one line \u{1B}[2J\n  and another")
        screen.say("\u{202E}")
        #expect(
            pair.written()
                == "wiretape: one line \\u{1b}[2J\n  and another\nwiretape: \\u{202e}\n")
    }

    @Test func theCommandsOutputIsLeftAlone() throws {
        let end = try Wiretape.run(["record", self.cassette, "--", "sh", "-c", "printf out; printf err >&2"])
        #expect(end.outputText == "out")
        #expect(end.errors.hasPrefix("err"), "\(end.errors)")
    }

    @Test func withoutACommandItPrintsItsAddressAndASummary() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let recorder = try Wiretape.listening(["record", self.cassette])
        defer { recorder.program.stop() }
        #expect(recorder.program.errors == "wiretape: listening on http://127.0.0.1:\(recorder.port)\n")
        #expect(recorder.program.output == [])
        _ = try RawClient.exchange(
            port: recorder.port,
            Array("GET http://127.0.0.1:\(origin.port)/json HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nConnection: close\r\n\r\n".utf8))
        let end = try recorder.program.end()
        #expect(end.status == 0)
        #expect(end.errors.contains("recorded 1 exchange (") && end.errors.hasSuffix("in \(self.cassette).\n"), "\(end.errors)")
    }
}

@Suite struct ProgressLineTests {
    @Test func theLineIsRewrittenWhenThePercentageChanges() throws {
        let pair = try TerminalPair()
        let line = ProgressLine(label: "decoding", terminal: Terminal(pair.descriptor))
        line.show(0, of: 400)
        #expect(pair.written() == "\r\u{1B}[Kdecoding 0 of 400 (0 %)")
        line.show(3, of: 400)
        #expect(pair.written() == "")
        line.show(4, of: 400)
        #expect(pair.written() == "\r\u{1B}[Kdecoding 4 of 400 (1 %)")
        line.end()
        #expect(pair.written() == "\r\u{1B}[K")
    }

    @Test func nothingToDoShowsNothing() throws {
        let pair = try TerminalPair()
        let line = ProgressLine(label: "decoding", terminal: Terminal(pair.descriptor))
        line.show(0, of: 0)
        line.end()
        #expect(pair.written() == "")
    }

    @Test func aFileGetsNothing() throws {
        let file = try WrittenFile()
        let line = ProgressLine(label: "decoding", terminal: Terminal(file.descriptor))
        line.show(1, of: 2)
        line.end()
        #expect(try file.text() == "")
    }
}
