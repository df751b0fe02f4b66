import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct ServeCommandTests {
    @Test func itListensOnFreeLoopbackPortsAndServesItsFolder() throws {
        let command = try ServeCommand.parse([])
        #expect(command.listen == ListenAddress(host: "127.0.0.1", port: 0) && command.control == command.listen)
        #expect(command.folder == "." && command.tokenFile == nil)
    }

    @Test(arguments: [
        ["--grace", "-1"], ["--grace", "9999"], ["--listen", "7070"], ["pets.json"], ["--trust", "nobody"], ["--report", "a.json"],
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
        #expect(settings.ignore.map(\.value) == ["query:ts"] && settings.repetitionInForce == .last && settings.latency?.value == "5ms")
        #expect(settings.redact.map(\.value) == ["header:x-a"] && settings.keep.map(\.value) == ["jwt"])
        #expect(settings.secretEnv.map(\.value) == ["A"] && settings.redaction == nil && settings.refreshDates?.value == true)
        #expect(settings.failOnInForce.flaws == [.unused] && settings.maxAge?.value.seconds == 86_400 && settings.onExpiredInForce == .fail)
        #expect(try ServeCommand.parse(["--no-redaction"]).settings.redaction?.value == false)
    }

    @Test func whatCannotBeServedIsToldBeforeListening() throws {
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
