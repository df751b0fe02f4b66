import Testing

/// `run`: records once, then replays; and adds what is new where it is told to.
@Suite struct RunCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    @Test func theFirstRunRecordsAndTheNextOnesReplay() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let command = Curl.get("http://127.0.0.1:\(origin.port)/json", "http://127.0.0.1:\(origin.port)/gzip-dated")
        let first = try Wiretape.run(["run", self.cassette, "--"] + command)
        #expect(first.status == 0 && first.errors.contains("recorded 2 exchanges"), "\(first.errors)")
        let recorded = try self.folder.read("pets.json")
        origin.program.stop()
        for _ in 1...2 {
            let next = try Wiretape.run(["run", self.cassette, "--"] + command)
            #expect(next.status == 0 && next.errors.contains("replayed 2 of 2 exchanges"), "\(next.errors)")
            #expect(next.output == first.output)
        }
        #expect(try self.folder.read("pets.json") == recorded)
        try CassetteFile.expectValid(self.cassette)
    }

    @Test func anExpiredCassetteIsRecordedAnew() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        try self.folder.write(
            """
            { "wiretape": 1, "match": { "ignore": ["query:own"] }, "interactions": [ { "id": 1, "started": "2020-01-02T03:04:05Z",
              "request": { "method": "GET", "url": "http://origin.test/" }, "response": { "status": 204 } } ] }
            """.utf8, to: "pets.json")
        let end = try Wiretape.run(["run", self.cassette, "--max-age", "30d", "--on-expired", "rerecord", "--"] + Curl.get(url))
        #expect(end.status == 0 && end.errors.contains("it is recorded anew"), "\(end.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url])
        #expect(String(decoding: try self.folder.read("pets.json"), as: UTF8.self).contains("query:own"))
    }

    @Test func aRunThatOnlyReplaysRecordsNothingAnew() throws {
        let text = """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2020-01-02T03:04:05Z",
              "request": { "method": "GET", "url": "http://origin.test/" }, "response": { "status": 204 } } ] }
            """
        try self.folder.write(text.utf8, to: "pets.json")
        let expired = ["--max-age", "30d", "--on-expired", "rerecord"]
        let end = try Wiretape.run(["run", self.cassette, "--record-mode", "none"] + expired + ["--"] + Curl.get("http://origin.test/"))
        #expect(end.status == 0 && end.errors.contains("replayed 1 of 1 exchange"), "\(end.errors)")
        #expect(try self.folder.read("pets.json") == Array(text.utf8))
    }

    @Test func aRunCanRecordAllAnew() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        for query in ["?old", "?new"] {
            #expect(try Wiretape.run(["run", self.cassette, "--record-mode", "all", "--"] + Curl.get(url + query)).status == 0)
            #expect(try CassetteFile.urls(self.cassette) == [url + query])
        }
    }

    @Test func onceRefusesWhatIsNew() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["run", self.cassette, "--"] + Curl.get(url)).status == 0)
        #expect(try Wiretape.run(["run", self.cassette, "--"] + Curl.get(url + "?new")).status == 3)
        #expect(try CassetteFile.urls(self.cassette) == [url])
    }

    @Test func newEpisodesReplaysWhatIsThereAndAddsTheRest() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)"
        #expect(
            try Wiretape.run(["run", self.cassette, "--mode", "new-episodes", "--"] + Curl.get(url + "/item?n=1", url + "/large")).status
                == 0)
        let second = try Wiretape.run(
            ["run", self.cassette, "--mode", "new-episodes", "--"] + Curl.get(url + "/item?n=1", url + "/item?n=2"))
        #expect(second.status == 0, "\(second.errors)")
        #expect(second.errors.contains("replayed 1 of 2 exchanges") && second.errors.contains("recorded 1 exchange"), "\(second.errors)")
        #expect(try CassetteFile.urls(self.cassette) == [url + "/item?n=1", url + "/large", url + "/item?n=2"])
        #expect(try CassetteFile.interactions(self.cassette).map { $0["id"] as? Int } == [1, 2, 3])
        try CassetteFile.expectValid(self.cassette)
        origin.program.stop()
        #expect(
            try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "/item?n=2", url + "/item?n=1", url + "/large")).status == 0)
    }
}
