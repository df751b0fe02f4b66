import Testing

/// `replay`: answers from the cassette alone.
@Suite struct ReplayCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    @Test func repetitionAnswersAgain() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url)).status == 0)
        origin.program.stop()
        #expect(try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url, url)).status == 3)
        for repetition in ["last", "cycle"] {
            #expect(try Wiretape.run(["replay", self.cassette, "--repeat", repetition, "--"] + Curl.get(url, url, url)).status == 0)
        }
    }

    @Test func whatWasNotAskedForIsSaid() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url, url + "?b")).status == 0)
        let end = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?b"))
        #expect(end.status == 0)
        #expect(end.errors == "wiretape: replayed 1 of 2 exchanges from \(self.cassette), 1 unused.\n")
    }
}
