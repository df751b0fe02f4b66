import TapeProxy
import Testing
@testable import WiretapeCLI
import TapeTestSupport

/// The options that `record`, `replay` and `run` share.
@Suite struct ProxyOptionsTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("tapes/pets.json")
    }

    @Test(arguments: [
        ["record"], ["record", "x.json", "--bogus"], ["export", "x.json"], ["replay", "x.json", "--durability", "full"],
        ["record", "x.json", "--listen", "nowhere"], ["record", "x.json", "--grace", "-1"], ["run", "x.json", "--mode", "passthrough"],
        ["rewind", "x.json"],
    ])
    func wrongUsageIs64(_ arguments: [String]) throws {
        let end = try Wiretape.run(arguments)
        #expect(end.status == 64)
        #expect(!end.errors.isEmpty)
    }

    @Test func otherAddressesThanLoopbackNeedMoreThanOneWord() throws {
        for options in [["--listen", "0.0.0.0:0"], ["--listen", "0.0.0.0:0", "--allow-remote"]] {
            let end = try Wiretape.run(["record", self.cassette] + options)
            #expect(end.status == 1)
            #expect(end.errors.contains("--proxy-auth"), "\(end.errors)")
            #expect(!self.folder.exists("tapes/pets.json"))
        }
    }

    @Test func theProxysPasswordReachesTheCommandAndNotTheCassette() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        let end = try Wiretape.run(
            ["record", self.cassette, "--"] + Curl.get(url), environment: ["WIRETAPE_PROXY_AUTH": "bori:pa ss:w@rd"])
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.outputText.hasPrefix("GET /echo HTTP/1.1"), "\(end.outputText)")
        #expect(!end.outputText.contains("Proxy-Authorization"))
        let text = String(decoding: try self.folder.read("tapes/pets.json"), as: UTF8.self)
        #expect(text.contains("/echo") && !text.contains("Proxy-Authorization") && !text.contains("w@rd") && !text.contains("Ym9y"))
    }
}

@Suite struct ServerOptionsTests {
    @Test func loopsAreOnesOwnAndHaveBounds() throws {
        guard case .own(3) = try ServerOptions.parse(["--loops", "3"]).provider else {
            Issue.record("three loops were asked for")
            return
        }
        guard case .own(let standard) = try ServerOptions.parse([]).provider else {
            Issue.record("loops are a command's own")
            return
        }
        #expect((1...4).contains(standard))
        for wrong in ["0", "65", "-1", "two"] { #expect(throws: (any Error).self) { try ServerOptions.parse(["--loops=\(wrong)"]) } }
    }

    @Test func aLevelIsForALog() throws {
        #expect(throws: (any Error).self) { try ServerOptions.parse(["--log-level", "debug"]) }
        #expect(throws: (any Error).self) { try ServerOptions.parse(["--log", "run.log", "--log-level", "loud"]) }
        #expect(try ServerOptions.parse([]).openLog() == nil)
        let folder = try TemporaryFolder()
        let path = folder.file("run.log")
        #expect(try ServerOptions.parse(["--log", path]).openLog()?.logger.logLevel == .debug)
        #expect(try ServerOptions.parse(["--log", path, "--log-level", "warning"]).openLog()?.logger.logLevel == .warning)
    }

    @Test func theCassetteIsNoLog() throws {
        let folder = try TemporaryFolder()
        try folder.write("{}".utf8, to: "pets.json")
        let options = try ServerOptions.parse(["--log", folder.file("pets.json")])
        #expect(throws: SettingError.self) { try options.openLog(beside: folder.file("pets.json")) }
        #expect(try folder.read("pets.json") == Array("{}".utf8))
        let new = try ServerOptions.parse(["--log", folder.file("new.json")])
        #expect(throws: SettingError.self) { try new.openLog(beside: folder.path + "/./new.json") }
        #expect(throws: SettingError.self) { try new.openLog(servesSessions: true) }
        #expect(!folder.exists("new.json"))
    }
}
