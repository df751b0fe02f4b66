import Testing

/// `decode`: bodies that were kept raw get their readable form.
@Suite struct DecodeCommandTests {
    private let folder: TemporaryFolder
    private let cassette: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.cassette = self.folder.file("pets.json")
    }

    private func replayedBody() throws -> [UInt8] {
        let end = try Wiretape.run(["replay", self.cassette, "--"] + Curl.get("http://pets.test/1"))
        try #require(end.status == 0, "\(end.errors)")
        return end.output
    }

    @Test func aRawBodyBecomesReadableAndReplaysTheSame() throws {
        try #require(try Python.run("undeveloped.py", [self.cassette]).status == 0)
        try CassetteFile.expectValid(self.cassette)
        let raw = try self.replayedBody()
        #expect(raw.starts(with: [0x1f, 0x8b]))

        let end = try Wiretape.run(["decode", self.cassette])
        #expect(end.status == 0, "\(end.errors)")
        #expect(end.outputText == "decoded 1 exchange in \"\(self.cassette)\".\n")
        let response = try #require(try CassetteFile.interactions(self.cassette).first?["response"] as? [String: Any])
        let body = try #require(response["body"] as? [String: Any])
        #expect(body["raw"] == nil && body["codings"] != nil)
        #expect((body["json"] as? [String: Any])?["name"] as? String == "Bori")
        #expect(!self.folder.exists("pets.bodies/undeveloped.raw"))
        try CassetteFile.expectValid(self.cassette)
        #expect(try self.replayedBody() == raw)

        #expect(try Wiretape.run(["decode", self.cassette]).outputText == "decoded 0 exchanges in \"\(self.cassette)\".\n")
    }

    @Test func whatIsNoCassetteIsTold() throws {
        let end = try Wiretape.run(["decode", self.cassette])
        #expect(end.status == 1)
        #expect(end.errors.hasPrefix("wiretape: ") && end.errors.contains(self.cassette), "\(end.errors)")
    }
}
