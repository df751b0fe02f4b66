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

    @Test func rulesOfTheRecordingAndOfTheReplayMakeRequestsEqual() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--ignore", "query:ts", "--"] + Curl.get(url + "?ts=1&n=1")).status == 0)
        origin.program.stop()
        try CassetteFile.expectValid(self.cassette)
        #expect(try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?n=1&ts=2")).status == 0)
        let miss = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?n=22&ts=2"))
        #expect(miss.status == 3 && miss.errors.contains("--ignore query:n"), "\(miss.errors)")
        for options in [["--ignore", "query:n"], ["--pattern", "query:n=[0-9]+"], ["--match", "method,path"]] {
            #expect(
                try Wiretape.run(["replay", self.cassette] + options + ["--"] + Curl.get(url + "?n=22&ts=2")).status == 0, "\(options)")
        }
        #expect(try Wiretape.run(["replay", self.cassette, "--ignore", "nowhere", "--", "true"]).status == 64)
    }

    @Test func aConfigurationBesideTheWorkIsReadUnlessItIsNotWanted() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "?n=1")).status == 0)
        origin.program.stop()
        try self.folder.write("ignore: [query:n]\nrepeat: last\n".utf8, to: "wiretape.yaml")
        let command = ["--"] + Curl.get(url + "?n=2", url + "?n=3")
        #expect(try Wiretape.run(["replay", "pets.json"] + command, directory: self.folder.path).status == 0)
        #expect(try Wiretape.run(["replay", "pets.json", "--no-config"] + command, directory: self.folder.path).status == 3)
        #expect(try Wiretape.run(["replay", "pets.json", "--repeat", "never"] + command, directory: self.folder.path).status == 3)
    }

    @Test func unusedAndOutOfOrderExchangesFailWhereTheyAreTo() throws {
        let origin = try Python.origin("odd_origin.py")
        defer { origin.program.stop() }
        let url = "http://127.0.0.1:\(origin.port)/echo"
        #expect(try Wiretape.run(["record", self.cassette, "--"] + Curl.get(url + "?a", url + "?b")).status == 0)
        origin.program.stop()
        let reports = ["--report", self.folder.file("r.json"), "--report", self.folder.file("r.xml")]
        let unused = try Wiretape.run(["replay", self.cassette, "--fail-on", "miss,unused"] + reports + ["--"] + Curl.get(url + "?a"))
        #expect(unused.status == 4 && unused.errors.contains("unused: exchange 2, \"GET \(url)?b\""), "\(unused.errors)")
        #expect(String(decoding: try self.folder.read("r.json"), as: UTF8.self).contains("\"unused\": 1"))
        #expect(String(decoding: try self.folder.read("r.xml"), as: UTF8.self).contains("failures=\"1\""))
        let order = try Wiretape.run(["replay", self.cassette, "--fail-on", "order", "--"] + Curl.get(url + "?b", url + "?a"))
        #expect(order.status == 5 && order.errors.contains("order: exchange 1"), "\(order.errors)")
        #expect(try Wiretape.run(["replay", self.cassette, "--"] + Curl.get(url + "?b", url + "?a")).status == 0)
        let strict = try Wiretape.run(["replay", self.cassette, "--order", "strict", "--"] + Curl.get(url + "?b", url + "?a"))
        #expect(strict.status == 5 && strict.errors.contains("was requested while"), "\(strict.errors)")
    }

    @Test func anOldCassetteFailsWithSeven() throws {
        try self.folder.write(
            """
            { "wiretape": 1, "interactions": [ { "id": 1, "started": "2020-01-02T03:04:05.678901Z",
              "request": { "method": "GET", "url": "http://origin.test/" }, "response": { "status": 204 } } ] }
            """.utf8, to: "pets.json")
        let time = ["--", "sh", "-c", "echo $WIRETAPE_RECORDED_AT $WIRETAPE_RECORDED_AT_UNIX"]
        let fresh = try Wiretape.run(["replay", self.cassette] + time)
        #expect(fresh.status == 0 && fresh.outputText == "2020-01-02T03:04:05.678901Z 1577934245\n")
        let warned = try Wiretape.run(["replay", self.cassette, "--max-age", "30d"] + time)
        #expect(warned.status == 0 && warned.errors.contains("days old, and may be 30 days"), "\(warned.errors)")
        let failed = try Wiretape.run(["replay", self.cassette, "--max-age", "30d", "--on-expired", "fail"] + time)
        #expect(failed.status == 7 && failed.outputText.isEmpty, "\(failed.errors)")
        #expect(try Wiretape.run(["replay", self.cassette, "--on-expired", "rerecord"] + time).status == 64)
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
