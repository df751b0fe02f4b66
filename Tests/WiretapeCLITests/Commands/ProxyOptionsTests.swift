import Testing

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
