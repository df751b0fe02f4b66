import Testing

/// `record`: which file is written, and what happens to the one that is there.
@Suite struct RecordCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("tapes/pets.json")
    }

    @Test func foldersAreMadeAndTheCassetteReplacedOnSuccess() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "/echo?first", url + "/large")).status == 0)
        #expect(try self.folder.names(in: "tapes/pets.bodies").count == 1)

        let end = try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "/echo?second"))
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.errors.contains("recorded 1 exchange") && end.errors.contains("in \(self.cassette)."), "\(end.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url + "/echo?second"])
        #expect(!(try self.folder.names(in: "tapes").contains("pets.new.json")))
        #expect((try? self.folder.names(in: "tapes/pets.bodies")) ?? [] == [])
        try CassetteFile.expectValid(self.cassette)
    }

    @Test func aFailedCommandLeavesTheOldOneAndSaysWhereTheNewOneIs() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "/echo?first")).status == 0)
        let old = try self.folder.read("tapes/pets.json")

        let end = try Wiretape.run(["record", self.cassette, "--", "sh", "-c", Curl.line(url + "/large") + " >/dev/null; exit 4"])
        #expect(end.status == 4)
        #expect(try self.folder.read("tapes/pets.json") == old)
        let new = self.folder.file("tapes/pets.new.json")
        #expect(end.errors.contains("in \(new); the command failed, so \(self.cassette) is unchanged."), "\(end.errors)")
        #expect(try CassetteFile.urls(new) == [url + "/large"])
        try CassetteFile.expectValid(new)
        origin.program.stop()
        #expect(try Wiretape.run(["replay", new, "--"] + Curl.get(url + "/large")).status == 0)
    }

    @Test func aPortInUseIsToldAndLeavesNothingBehind() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let listen = ["--listen", "127.0.0.1:\(origin.port)"]
        let end = try Wiretape.run(["record", self.cassette] + listen)
        #expect(end.status == 1)
        #expect(end.errors.contains("cannot listen on \"127.0.0.1:\(origin.port)\""), "\(end.errors)")
        #expect(!self.folder.exists("tapes/pets.json"))

        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get("http://127.0.0.1:\(origin.port)/echo")).status == 0)
        #expect(try Wiretape.run(["record", self.cassette] + listen).status == 1)
        #expect(try Wiretape.run(["run", self.cassette, "--mode", "new-episodes"] + listen).status == 1)
        #expect(try CassetteFile.urls(self.cassette) == ["http://127.0.0.1:\(origin.port)/echo"])
        #expect(try self.folder.names(in: "tapes").filter { $0.hasSuffix(".json") } == ["pets.json"])
    }

    @Test func aSecondRecorderIsKeptOut() throws {
        let first = try Wiretape.listening(["record", self.cassette])
        defer { first.program.stop() }
        let end = try Wiretape.run(["run", self.cassette, "--mode", "new-episodes", "--listen", "127.0.0.1:0"])
        #expect(end.status == 1)
        #expect(end.errors.contains("pets.json"), "\(end.errors)")
        #expect(try first.program.end().status == 0)
    }
}
