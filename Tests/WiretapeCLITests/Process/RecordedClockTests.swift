#if os(Linux)
import CassetteRun
import Foundation
import TapeBytes
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct RecordedClockTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func places(own: Bool = true, faketime: Bool = false) throws -> ClockLibrary.Places {
        if own { try self.folder.write([], to: "bin/libwiretape-clock.so") }
        if faketime { try self.folder.write([], to: "lib/faketime/libfaketimeMT.so.1") }
        return .init(executableFolder: self.folder.file("bin"), folders: [self.folder.file("lib")], faketime: nil)
    }

    private func clock(
        at microseconds: Int64? = 1_770_000_000_000_001, program: String = "sh", environment: [String: String] = [:],
        places: ClockLibrary.Places? = nil
    ) throws -> RecordedClock {
        try RecordedClock(
            start: microseconds.map { Timestamp(microseconds: $0) }, cassette: "pets.json", program: program, environment: environment,
            places: try places ?? self.places())
    }

    private func problem(_ body: () throws -> RecordedClock) -> String {
        do { return "no error: \(try body())" } catch { return "\(error)" }
    }

    @Test func itStartsAtTheRecordingAndNeverBefore() throws {
        #expect(try self.clock(at: 1_770_000_000_000_000).start == 1_770_000_000)
        #expect(try self.clock(at: 1_770_000_000_000_001).start == 1_770_000_001)
    }

    @Test func theOwnLibraryComesBeforeThoseOfTheEnvironment() throws {
        var environment = ["LD_PRELOAD": "/a.so /b.so", "OWN": "kept"]
        try self.clock().apply(to: &environment, isEntered: false, now: 1_780_000_001)
        let library = self.folder.file("bin/libwiretape-clock.so")
        #expect(environment == ["LD_PRELOAD": "\(library):/a.so:/b.so", "WIRETAPE_CLOCK_OFFSET": "-10000000", "OWN": "kept"])
    }

    @Test func aProgramInANamespaceGetsTheLibraryAndWiretapeDoesNot() throws {
        var environment: [String: String] = [:]
        try self.clock().apply(to: &environment, isEntered: true, now: 0)
        #expect(environment["LD_PRELOAD"] == nil)
        #expect(environment["WIRETAPE_PRELOAD"] == self.folder.file("bin/libwiretape-clock.so"))
    }

    @Test func libfaketimeIsUsedWithoutTheOwnLibrary() throws {
        let clock = try self.clock(places: self.places(own: false, faketime: true))
        var environment: [String: String] = [:]
        clock.apply(to: &environment, isEntered: false, now: 1_770_000_002)
        #expect(environment["LD_PRELOAD"] == self.folder.file("lib/faketime/libfaketimeMT.so.1"))
        #expect(environment["FAKETIME"] == "-1" && environment["FAKETIME_DONT_FAKE_MONOTONIC"] == "1" && environment["NO_FAKE_STAT"] == "1")
        clock.apply(to: &environment, isEntered: false, now: 1_770_000_000)
        #expect(environment["FAKETIME"] == "+1")
        #expect(clock.notice?.contains("libfaketime") == true)
        #expect(try self.clock(places: self.places(own: true, faketime: true)).notice == nil)
    }

    @Test func libfaketimeIsFoundNextToItsProgram() throws {
        let program = try self.folder.write([], to: "nix/bin/faketime")
        try self.folder.write([], to: "nix/lib/faketime/libfaketimeMT.so.1")
        let found = ClockLibrary.find(.init(executableFolder: nil, folders: [], faketime: program))
        #expect(found?.path.hasSuffix("nix/lib/faketime/libfaketimeMT.so.1") == true && found?.kind == .libfaketime)
    }

    @Test func thePackagesLibraryIsFoundFromItsProgram() throws {
        try self.folder.write([], to: "usr/lib/wiretape/libwiretape-clock.so")
        try self.folder.write([], to: "usr/bin/wiretape")
        let found = ClockLibrary.find(.init(executableFolder: self.folder.file("usr/bin"), folders: [], faketime: nil))
        #expect(found?.path.hasSuffix("usr/lib/wiretape/libwiretape-clock.so") == true && found?.kind == .own)
    }

    @Test func refusalsNameTheNextStep() throws {
        let none = ClockLibrary.Places(executableFolder: nil, folders: [], faketime: nil)
        #expect(self.problem { try self.clock(places: none) }.contains("apt install faketime"))
        #expect(self.problem { try self.clock(at: nil) }.contains("\"pets.json\" has no exchange"))
        #expect(self.problem { try self.clock(at: 900_000_000_000_000) }.contains("begins at 1998-07-09T16:00:00"))
        for environment in [["WIRETAPE_CLOCK_OFFSET": "5"], ["FAKETIME": "-1d"], ["LD_PRELOAD": "/usr/lib/faketime/libfaketime.so.1"]] {
            #expect(self.problem { try self.clock(environment: environment) }.contains("is moved already"), "\(environment)")
        }
        try self.folder.write([], to: "a b/libwiretape-clock.so")
        let spaced = ClockLibrary.Places(executableFolder: self.folder.file("a b"), folders: [], faketime: nil)
        #expect(self.problem { try self.clock(places: spaced) }.contains("contains a space or a colon"))
    }
}

@Suite struct ProgramImageTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    /// An ELF image with a loader, a note, or neither.
    private func image(loader: String? = nil, note: String? = nil) -> [UInt8] {
        func number(_ value: Int, _ size: Int) -> [UInt8] { (0..<size).map { UInt8(value >> ($0 * 8) & 0xFF) } }
        func header(_ type: Int, _ start: Int, _ length: Int) -> [UInt8] {
            number(type, 4) + number(0, 4) + number(start, 8) + number(0, 16) + number(length, 8) + number(0, 16)
        }
        // PT_LOAD, PT_INTERP and PT_NOTE.
        let parts = [
            (1, [0]), (3, loader.map { Array($0.utf8) + [0] }), (4, note.map { number(4, 4) + number(0, 8) + Array($0.utf8) + [0, 0] }),
        ]
        .compactMap { type, content in content.map { (type, $0) } }
        var headers: [UInt8] = []
        var contents: [UInt8] = []
        for (type, content) in parts {
            headers += header(type, 64 + parts.count * 56 + contents.count, content.count)
            contents += content
        }
        return [0x7F, 0x45, 0x4C, 0x46, 2, 1] + number(0, 26) + number(64, 8) + number(0, 14) + number(56, 2) + number(parts.count, 2)
            + number(0, 6) + headers + contents
    }

    private func program(_ bytes: [UInt8], _ name: String = "program") throws -> String {
        let path = try self.folder.write(bytes, to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    private let own = ProgramImage.elf(loader: "/lib64/ld-linux-x86-64.so.2", isGo: false)

    private func problem(_ program: String) -> String? { ProgramImage.clockProblem(of: program, own: self.own) }

    @Test func programsOfTheSameLoaderCanBeMoved() throws {
        #expect(self.problem(try self.program(self.image(loader: "/lib64/ld-linux-x86-64.so.2"))) == nil)
        #expect(self.problem(try self.program(self.image(loader: "/nix/store/x/lib/ld-linux-x86-64.so.2", note: "GNU"))) == nil)
        #expect(self.problem("there-is-no-such-program") == nil)
    }

    @Test func staticProgramsGoAndOtherLibrariesCannot() throws {
        #expect(self.problem(try self.program(self.image()))?.contains("linked statically") == true)
        #expect(self.problem(try self.program(self.image(note: "Go")))?.contains("is written in Go") == true)
        let linked = self.image(loader: "/lib64/ld-linux-x86-64.so.2", note: "Go")
        #expect(self.problem(try self.program(linked))?.contains("is written in Go") == true)
        #expect(self.problem(try self.program(self.image(loader: "/lib/ld-musl-x86_64.so.1")))?.contains("another C library") == true)
    }

    @Test(arguments: ["#!%\n", "#! % -x\n", "#!/usr/bin/env -S A=1 %\nrest"])
    func aScriptIsJudgedByItsInterpreter(line: String) throws {
        let interpreter = try self.program(self.image())
        let script = try self.program(Array(line.replacingOccurrences(of: "%", with: interpreter).utf8), "script")
        #expect(self.problem(script)?.contains("\"\(interpreter)\" uses no shared libraries") == true)
    }

    @Test func damagedImagesAreNotJudged() throws {
        let whole = self.image(loader: "/l", note: "Go")
        for count in 0...whole.count { _ = ProgramImage(file: try self.program(Array(whole.prefix(count)))) }
        #expect(ProgramImage(file: self.folder.file("program")) == .elf(loader: "/l", isGo: true))
        var bytes = self.image(loader: "/l")
        for index in 32..<64 { bytes[index] = 0xFF }
        #expect(self.problem(try self.program(bytes)) == nil)
        // A script that names itself.
        let path = self.folder.file("itself")
        #expect(self.problem(try self.program(Array("#!\(path)\n".utf8), "itself")) == nil)
    }
}

/// `--clock recorded` with the library of this build.
@Suite struct ClockOfAReplayTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = try self.folder.write(
            """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2020-01-02T03:04:05.678901Z",
              "request": { "method": "GET", "url": "https://origin.test/" }, "response": { "status": 200, "body": { "text": "pets" } } } ] }
            """.utf8, to: "pets.json")
    }

    private func replay(_ options: [String], _ command: [String]) throws -> ExternalProgram.Ended {
        try Wiretape.run(["replay", self.cassette, "--clock", "recorded"] + options + ["--"] + command)
    }

    @Test func theProgramAndItsProgramsRunAtTheRecording() throws {
        let end = try self.replay(["--fail-on", "none"], ["sh", "-c", "date -u +%Y-%m-%dT%H:%M; sh -c 'date -u +%Y-%m-%d'"])
        #expect(end.status == 0 && end.outputText == "2020-01-02T03:04\n2020-01-02\n", "\(end.errors)")
    }

    @Test func theCertificatesAreValidThen() throws {
        // An authority that is new today, as on a build machine.
        let end = try self.replay(["--ca-dir", self.folder.file("ca")], Curl.get("https://origin.test/"))
        #expect(end.status == 0 && end.outputText == "pets", "\(end.errors)")
        // With the same authority, a program of today trusts it as well.
        let today = try Wiretape.run(
            ["replay", self.cassette, "--ca-dir", self.folder.file("ca"), "--"] + Curl.get("https://origin.test/"))
        #expect(today.status == 0 && today.outputText == "pets", "\(today.errors)")
    }

    @Test func waitsTakeTheirTimeAndEnd() throws {
        let script = """
            import datetime, queue, time
            start = time.monotonic()
            time.sleep(0.01)
            try: queue.Queue().get(timeout=0.01)
            except queue.Empty: pass
            print(datetime.datetime.now(datetime.timezone.utc).year, 0.02 <= time.monotonic() - start)
            """
        let end = try self.replay(["--fail-on", "none"], [try Programs.find("python3"), "-c", script])
        #expect(end.status == 0 && end.outputText == "2020 True\n", "\(end.errors)")
    }

    @Test func theFileOfSettingsMayAskForIt() throws {
        try self.folder.write("clock: recorded\n".utf8, to: "wiretape.yaml")
        let config = ["--config", self.folder.file("wiretape.yaml"), "--fail-on", "none"]
        let date = ["--", "date", "-u", "+%Y"]
        #expect(try Wiretape.run(["replay", self.cassette] + config + date).outputText == "2020\n")
        // A recording gives the time, and takes the real one.
        #expect(try Wiretape.run(["run", self.folder.file("new.json")] + config + date).outputText != "2020\n")
        #expect(try Wiretape.run(["replay", self.cassette, "--clock", "real"] + config + date).outputText != "2020\n")
    }

    @Test func whatCannotBeMovedIsRefused() throws {
        func problem(_ options: [String]) throws -> String {
            let end = try Wiretape.run(options)
            return end.status == 1 && end.outputText.isEmpty ? end.errors : "status \(end.status): \(end.outputText)"
        }
        let replay = ["replay", self.cassette, "--clock", "recorded"]
        #expect(try problem(replay + ["--refresh-dates", "--", "date"]).contains("choose one of them"))
        #expect(try problem(replay + ["--listen", "127.0.0.1:0"]).contains("pass a program after \"--\""))
        let episodes = ["run", self.cassette, "--clock", "recorded", "--mode", "new-episodes", "--", "date"]
        #expect(try problem(episodes).contains("origins would get requests from the past"))
        let authority = try MadeAuthority(in: self.folder.file("company"))
        let given = ["--ca-cert", authority.certificateFile, "--ca-key", authority.keyFile, "--", "date"]
        #expect(try problem(replay + given).contains("was not valid at the time of the recording (2020-01-02T03:04:06"))
    }
}
#endif
