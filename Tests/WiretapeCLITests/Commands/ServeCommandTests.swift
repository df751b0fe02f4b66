import Testing

@testable import WiretapeCLI

@Suite struct ServeCommandTests {
    @Test func itListensOnFreeLoopbackPortsAndServesItsFolder() throws {
        let command = try ServeCommand.parse([])
        #expect(command.listen == ListenAddress(host: "127.0.0.1", port: 0) && command.control == command.listen)
        #expect(command.folder == "." && command.tokenFile == nil)
    }

    @Test(arguments: [["--grace", "-1"], ["--grace", "9999"], ["--listen", "7070"], ["pets.json"], ["--private-trust"]])
    func wrongOptionsAreRefused(_ arguments: [String]) {
        #expect(throws: (any Error).self) { try ServeCommand.parse(arguments) }
    }

    @Test func whatCannotBeServedIsToldBeforeListening() throws {
        let folder = try TemporaryFolder()
        let token = ["--token-file", folder.file("token")]
        for (arguments, wanted) in [
            ([], "the control API wants a token"), (token + ["--folder", folder.file("none")], "there is no folder"),
            (token + ["--listen", "0.0.0.0:0"], "is not a loopback address"),
            (token + ["--control", "0.0.0.0:0"], "is not a loopback address"),
        ] {
            let end = try Wiretape.run(["serve", "--folder", folder.path] + arguments)
            #expect(end.status == 1 && end.errors.contains(wanted), "\(end.errors)")
            #expect(!end.errors.contains("sessions on"))
        }
    }
}
