import Foundation
import Platform
import Testing
import TapeTestSupport

/// The recorder is killed under load: the file has every acknowledged exchange, byte for byte, and at most one queue is missing.
@Suite(.serialized) struct CrashTests {
    /// A share of the kills of `make crash`.
    private static let kills = ProcessInfo.processInfo.environment["WIRETAPE_KILLS"].flatMap { Int($0) } ?? 4

    private struct Crash {
        var cassette: String
        var log: String
    }

    private static func crash(after answers: Int, origin: Int, in folder: TemporaryFolder, name: String) throws -> Crash {
        let crash = Crash(cassette: folder.file("\(name).json"), log: folder.file("\(name).log"))
        let recorder = try Wiretape.listening(["record", crash.cassette])
        defer { recorder.program.stop() }
        let load = try ExternalProgram(
            try Programs.find("python3"), [Programs.fixture("load.py"), "\(recorder.port)", "\(origin)", crash.log])
        defer { load.stop() }
        _ = try Deadline.wait(for: "\(answers) answers") {
            (try? folder.read("\(name).log").count { $0 == 10 }).flatMap { $0 >= answers ? true : nil }
        }
        recorder.program.send(SIGKILL)
        #expect(try recorder.program.wait().status == 128 + SIGKILL)
        let loadEnd = try load.wait()
        #expect(loadEnd.status == 0, "\(loadEnd.errors)")
        return crash
    }

    @Test func killedAtAnyMomentItHasWhatItAcknowledged() throws {
        let folder = try TemporaryFolder()
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        var generator = SeededGenerator(seed: 2026)
        var checked = 0
        for number in 1...Self.kills {
            let answers = Int.random(in: 1...300, using: &generator)
            let crash = try Self.crash(after: answers, origin: origin.port, in: folder, name: "kill-\(number)")
            let refetch = ["python3", Programs.fixture("refetch.py"), "\(origin.port)", crash.log]
            // The file as it was left.
            let left = try Wiretape.run(["replay", crash.cassette, "--fail-on", "none", "--"] + refetch)
            #expect(left.status == 0, "kill \(number) after \(answers) answers: \(left.errors.suffix(2000))")
            let isTorn = left.errors.contains(" is torn: ")
            let found = left.outputText.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }
            checked += found.first ?? 0
            if found.count > 1 {
                let one = "http://127.0.0.1:\(origin.port)/item?n=\(found[1])"
                let replay = try Wiretape.run(["replay", crash.cassette, "--"] + Curl.get(one))
                #expect(replay.status == (isTorn ? 1 : 0), "a replay of a torn cassette fails: \(replay.errors)")
            }
            // The next recorder repairs it, and reports that if it had to.
            let mend = try Wiretape.run(["run", crash.cassette, "--mode", "new-episodes", "--fail-on", "none", "--", "true"])
            #expect(mend.status == 0, "kill \(number): \(mend.errors)")
            #expect(mend.errors.contains(" is torn: ") == isTorn, "kill \(number): \(mend.errors)")
            try CassetteFile.expectValid(crash.cassette)
            let mended = try Wiretape.run(["replay", crash.cassette, "--fail-on", "none", "--"] + refetch)
            #expect(mended.status == 0 && !mended.errors.contains(" is torn: "), "kill \(number): \(mended.errors.suffix(2000))")
        }
        #expect(checked > Self.kills * 5, "the load was too light to tell anything: \(checked) exchanges")
    }

    @Test func aTornTailIsIgnoredByReadersAndRepairedByTheNextRecorder() throws {
        let folder = try TemporaryFolder()
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let cassette = folder.file("torn.json")
        let urls = (0..<4).map { "http://127.0.0.1:\(origin.port)/item?n=\($0)" }
        try #require(try Wiretape.run(["record", cassette, "--"] + Curl.get(urls[0], urls[1], urls[2])).status == 0)
        let whole = try folder.read("torn.json")
        let start = try #require(whole.firstRange(of: Array("\"id\": 3".utf8))).lowerBound
        for (name, size) in [("inside", start + 100), ("head", 40), ("brackets", whole.count - 3)] {
            try folder.write(whole[..<size], to: "torn.json")
            let left = name == "inside" ? 2 : name == "head" ? 0 : 3
            let export = try Wiretape.run(["export", cassette, "--har"])
            #expect(export.status == 0 && export.errors.contains("torn.json\" is torn: "), "\(name): \(export.errors)")
            #expect(export.outputText.components(separatedBy: "\"startedDateTime\"").count - 1 == left, "\(name)")
            #expect(try folder.read("torn.json") == Array(whole[..<size]), "a reader changed the file")

            let mend = try Wiretape.run(["run", cassette, "--mode", "new-episodes", "--"] + Curl.get(urls[3]))
            #expect(mend.status == 0 && mend.errors.contains("torn.json\" is torn: "), "\(name): \(mend.errors)")
            #expect(try CassetteFile.urls(cassette) == urls[..<left] + [urls[3]], "\(name)")
            try CassetteFile.expectValid(cassette)
        }
    }
}
