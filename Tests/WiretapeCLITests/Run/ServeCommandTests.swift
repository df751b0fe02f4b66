import CassettePlayback
import CassetteRedaction
import CassetteStore
import Foundation
@testable import TapeProxy
import TapeRecorder
import Testing
@testable import WiretapeCLI
import TapeTestSupport

@Suite struct ServeCommandTests {
    @Test func itListensOnFreeLoopbackPortsAndServesItsFolder() throws {
        let command = try ServeCommand.parse([])
        #expect(command.listen == ListenAddress(host: "127.0.0.1", port: 0) && command.control == command.listen)
        #expect(command.folder == "." && command.tokenFile == nil)
    }

    @Test(arguments: [
        ["--grace", "-1"], ["--grace", "9999"], ["--listen", "nowhere"], ["pets.json"], ["--trust", "nobody"], ["--report", "a.json"],
        ["--no-redaction", "--keep", "jwt"], ["--review"], ["--keep-on-failure"], ["--latency", "soon"], ["--ignore", "nothing"],
    ])
    func wrongOptionsAreRefused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try ServeCommand.parse(arguments) }
    }

    @Test func itsOptionsAreThoseOfAllSessions() throws {
        let settings = try ServeCommand.parse([
            "--ignore", "query:ts", "--repeat", "last", "--latency", "5ms", "--redact", "header:x-a", "--keep", "jwt", "--secret-env", "A",
            "--fail-on", "unused", "--max-age", "1d", "--on-expired", "fail", "--refresh-dates",
        ]).settings
        #expect(
            settings[Settings.ignore].map(\.value) == ["query:ts"] && settings.value(Settings.repetition) == .last
                && settings.value(Settings.latency) == .fixed(5))
        #expect(settings[Settings.redact].map(\.value) == ["header:x-a"] && settings[Settings.keep].map(\.value) == ["jwt"])
        #expect(
            settings[Settings.secretEnv].map(\.value) == ["A"] && settings[Settings.redaction] == nil
                && settings[Settings.refreshDates]?.value == true)
        #expect(
            settings.failOnInForce.flaws == [.unused] && settings.value(Settings.maxAge)?.seconds == 86_400
                && settings.value(Settings.onExpired) == .fail)
        #expect(try ServeCommand.parse(["--no-redaction"]).settings[Settings.redaction]?.value == false)
    }

    @Test func impossibleSettingIsReportedBeforeListening() throws {
        let folder = try TemporaryFolder()
        let token = ["--token-file", folder.file("token")]
        for (arguments, wanted) in [
            ([], "the control API needs a token"), (token + ["--folder", folder.file("none")], "there is no folder"),
            (token + ["--listen", "0.0.0.0:0"], "is not a loopback address"),
            (token + ["--control", "0.0.0.0:0"], "is not a loopback address"),
        ] {
            let end = try Wiretape.run(["serve", "--folder", folder.path] + arguments)
            #expect(end.status == 1 && end.errors.contains(wanted), "\(end.errors)")
            #expect(!end.errors.contains("sessions on"))
        }
    }
}

@Suite struct ControlTokenTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func find(_ file: String?, _ environment: [String: String] = [:]) throws -> (token: String, notices: [String]) {
        var notices: [String] = []
        let secret = try ControlToken.find(file: file, environment: environment) { notices.append($0) }
        return (secret.revealed, notices)
    }

    @Test func aFileIsMadeForItsOwnerAndFoundAgain() throws {
        let file = self.folder.file("token")
        let made = try self.find(file)
        #expect(made.token.count == 48 && made.notices.count == 1)
        #expect(!made.notices[0].contains(made.token))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let found = try self.find(file)
        #expect(found.token == made.token && found.notices.isEmpty)
    }

    @Test func theFileGoesBeforeTheVariable() throws {
        try self.folder.write("from-the-file-of-tokens".utf8, to: "token")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: self.folder.file("token"))
        let found = try self.find(self.folder.file("token"), ["WIRETAPE_TOKEN": "from-the-variable"])
        #expect(found.token == "from-the-file-of-tokens")
        #expect(found.notices.first?.contains("chmod 600") == true)
        #expect(try self.find(nil, ["WIRETAPE_TOKEN": "from-the-variable"]).token == "from-the-variable")
    }

    @Test(arguments: ["", "short", "with a space in the middle", "two-lines-of-text\nand-another", String(repeating: "x", count: 257)])
    func invalidTokenIsRefusedWithoutBeingShown(_ text: String) throws {
        try self.folder.write((text + "\n").utf8, to: "token")
        let error = #expect(throws: TrustError.self) { try self.find(self.folder.file("token")) }
        #expect(error?.message.contains("is not a token") == true)
        #expect(text.isEmpty || error?.message.contains(text) == false)
        #expect(throws: TrustError.self) { try self.find(nil, ["WIRETAPE_TOKEN": text]) }
    }

    @Test func withoutAnyItSaysWhereToGiveOne() {
        let error = #expect(throws: TrustError.self) { try self.find(nil) }
        #expect(error?.message.contains("--token-file") == true && error?.message.contains("WIRETAPE_TOKEN") == true)
    }
}

@Suite struct ServeRunTests {
    private func report(_ change: (inout SessionReport) -> Void = { _ in }) throws -> SessionReport {
        var report = SessionReport(
            name: try #require(SessionName("s1")), cassette: "pets.json", mode: .once, isOpen: false, recorded: 0, counts: ProxyCounts(),
            verdict: Verdict(hits: 2))
        change(&report)
        return report
    }

    @Test func theSmallestReasonIsTheExitCode() throws {
        let fine = try self.report()
        let missed = try self.report { $0.verdict.misses = 1 }
        let failed = try self.report { $0.problem = "x" }
        #expect(ServeRun.exitStatus([]) == ExitStatus.done)
        #expect(ServeRun.exitStatus([fine]) == ExitStatus.done)
        #expect(ServeRun.exitStatus([fine, missed]) == ExitStatus.misses)
        #expect(ServeRun.exitStatus([missed, failed, fine]) == ExitStatus.failed)
        let unused = try self.report {
            $0.verdict.unused = [0]
            $0.failOn = FailureRule([.unused])
        }
        #expect(ServeRun.exitStatus([fine, unused]) == ExitStatus.unused)
        #expect(ServeRun.exitStatus([unused, missed]) == ExitStatus.misses)
    }

    @Test func aSessionThatWasNotEndedHasALine() throws {
        #expect(ServeRun.lines(try self.report()) == ["session \"s1\" with \"pets.json\" was still open: 2 hits, 0 misses."])
        let text = ServeRun.lines(
            try self.report {
                $0.recorder = RecorderStatus()
                $0.recorder?.recorded = 1
                $0.recorder?.lost = 2
                $0.file = "/c/pets.json"
                $0.problem = "the disk is full"
            }
        ).joined()
        #expect(text.hasSuffix(", 1 exchange recorded in \"/c/pets.json\", 2 lost, exit code 1; the disk is full"), "\(text)")
    }

    @Test func problemsAreReportedPerSession() throws {
        let lines = ServeRun.lines(
            try self.report {
                $0.verdict.unused = [0]
                $0.verdict.orderViolations = 1
                $0.failOn = FailureRule([.unused])
                $0.details = ReplayReport(
                    cassette: "pets.json", mode: .none, verdict: Verdict(hits: 2, unused: [0]),
                    exchanges: [ReplayReport.Exchange(id: 7, request: "GET http://origin.test/", answers: 0)])
                $0.recorder = RecorderStatus()
                $0.recorder?.leaks = [
                    CassetteLeak(exchange: 1, place: "line 1", placeholder: Placeholder(kind: "cookie", number: 1), spelling: .plain)
                ]
            })
        #expect(lines.count == 3, "\(lines)")
        #expect(lines.allSatisfy { $0.hasPrefix("session \"s1\"") })
        #expect(lines[0].contains("GET http://origin.test/") && lines[1].contains("{{cookie:1}}"))
        #expect(lines[2].hasSuffix("1 out of order, 1 unused, 0 exchanges recorded, exit code 4."), "\(lines[2])")
    }

    @Test func hostPatternsWithoutEffectAreReported() throws {
        let file = try ConfigFile(path: "w.yaml", bytes: Array("passthrough: [a.test]\ncassettes:\n  \"x*\":\n    refuse: [b.test]".utf8))
        #expect(ServeRun.notices(on: file).count == 1 && ServeRun.notices(on: nil) == [])
        let fine = try ConfigFile(path: "w.yaml", bytes: Array("passthrough: [a.test]\ncassettes:\n  \"x*\":\n    repeat: last".utf8))
        #expect(ServeRun.notices(on: fine) == [])
    }
}
