import CassetteModel
import CassettePlayback
import CassetteTools
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteExport

/// The output for other tools.
@Suite struct ExportTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("list-pets.json")
    }

    private func text(_ interactions: [Interaction], _ make: (ExportTarget) -> any ExchangeWriter) throws -> String {
        if !self.folder.exists("list-pets.json") { try RecordedExchanges.write(interactions, to: self.path) }
        var bytes: [UInt8] = []
        var writer = make(ExportTarget(path: self.path) { bytes.append(contentsOf: $0) })
        try writer.begin()
        for (index, interaction) in interactions.enumerated() { try writer.append(interaction, number: index + 1) }
        try writer.end()
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func post(_ text: String, type: String = "application/json", id: Int = 1) -> Interaction {
        var interaction = Interaction.sample(
            id, at: Int64(id), "POST", "http://a.test:8080/pets?kind=cat&x", status: 201,
            body: Body(size: 2, content: .text(Array("ok".utf8))))
        interaction.request.headers = HeaderFields(["Host: a.test:8080", "Content-Type: \(type)", "Content-Length: \(text.utf8.count)"])
        interaction.request.body = Body(size: text.utf8.count, content: .text(Array(text.utf8)))
        return interaction
    }

    // MARK: Hidden characters

    private static let hiddenText = "{\"name\": \"a\u{202E}b\u{85}\u{200F}c$`'\"}"

    /// Bidirectional and C1 controls, wherever a recording may have them.
    private static func hidden() -> Interaction {
        let text = Self.hiddenText
        var interaction = self.post(text)
        interaction.request.url = "http://a.test:8080/pets?q=\u{2066}x\u{61C}"
        interaction.request.headers.append(name: "X-Name", value: "a'\u{202E}$HOME`\u{9B}\u{1F408}")
        interaction.response?.headers.append(name: "X-Name", value: "\u{200E}")
        interaction.response?.body = Body(size: text.utf8.count, content: .text(Array(text.utf8)))
        return interaction
    }

    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            !(0x80...0x9F).contains(scalar.value) && !(0x200E...0x200F).contains(scalar.value) && scalar.value != 0x61C
                && !(0x202A...0x202E).contains(scalar.value) && !(0x2066...0x2069).contains(scalar.value)
        }
    }

    @Test func noFormatHasHiddenCharacters() throws {
        let formats: [(String, (ExportTarget) -> any ExchangeWriter)] = [
            ("har", { ArchiveWriter(nil, path: $0.path, sink: $0.sink) }), ("postman", { PostmanCollection($0) }),
            ("wiremock", { WireMockMappings($0) }), ("swift", { SwiftTestText($0) }), ("bash", { CurlScript($0, .bash) }),
            ("fish", { CurlScript($0, .fish) }), ("powershell", { CurlScript($0, .powershell) }),
        ]
        for (name, make) in formats {
            let text = try self.text([Self.hidden()], make)
            #expect(Self.isPlain(text), "\(name): \(text.debugDescription)")
        }
    }

    @Test func theValuesOfJSONStayTheSame() throws {
        let har = try JSONDocument(Array(try self.text([Self.hidden()]) { ArchiveWriter(nil, path: $0.path, sink: $0.sink) }.utf8)).root
        let entry = try #require(har["log"]?["entries"]?.elements.map { $0 }.first)
        #expect(entry["request"]?["url"]?.string == Self.hidden().request.url)
        let body = Self.hiddenText
        #expect(entry["response"]?["content"]?["text"]?.string == body)
        let collection = try JSONDocument(Array(try self.text([Self.hidden()]) { PostmanCollection($0) }.utf8)).root
        #expect(collection["item"]?.elements.map { $0 }.first?["response"]?.elements.map { $0 }.first?["body"]?.string == body)
    }

    /// Any POSIX shell reproduces the bytes.
    @Test func aShellMakesTheSameBytes() throws {
        for word in [
            "\u{202E}", "a\u{202E}\u{9B}b", "it's \u{2066}$HOME `x` \\ \"q\"\u{1F408}\u{200F}", "\u{85}\u{E0001}\u{85}", "plain", "",
        ] {
            let quoted = ShellWord.quoted(word)
            #expect(Self.isPlain(quoted))
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "printf %s \(quoted)"]
            process.standardOutput = output
            try process.run()
            let bytes = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            #expect(String(decoding: bytes, as: UTF8.self) == word, "\(quoted)")
        }
    }

    @Test func shellsWithEscapesOfTheirOwnUseThem() throws {
        let fish = try self.text([Self.hidden()]) { CurlScript($0, .fish) }
        #expect(fish.contains(#"'X-Name: a\''\u202e'$HOME`'\u009b🐈"#), "\(fish)")
        let powershell = try self.text([Self.hidden()]) { CurlScript($0, .powershell) }
        #expect(powershell.contains("@\"\n") && powershell.contains("\n\"@ | & $curl"), "\(powershell)")
        #expect(powershell.contains("X-Name: a'$([char]::ConvertFromUtf32(0x202e))`$HOME``$([char]::ConvertFromUtf32(0x9b))🐈"))
        let swift = try self.text([Self.hidden()]) { SwiftTestText($0) }
        #expect(swift.contains(#"a'\u{202e}$HOME`\u{9b}🐈"#), "\(swift)")
    }

    /// A stub without a condition for the body answers requests with any.
    @Test func aRequestWithoutABodyHasNoneIfOthersHaveOne() throws {
        var without = Self.post("", id: 2)
        without.request.body = nil
        var other = without
        other.request.method = "PUT"
        let document = try JSONDocument(Array(try self.text([Self.post("{}", id: 1), without, other]) { WireMockMappings($0) }.utf8)).root
        let conditions = document["mappings"]?.elements.map { $0["request"]?["bodyPatterns"]?.elements.map { $0["absent"]?.bool } }
        #expect(conditions == [[nil], [true], nil])
    }

    // MARK: curl

    @Test func theFilesOfCommandsAreWritten() throws {
        let body = String(repeating: "x", count: 5000)
        let folder = try ExtractFolder(self.folder.file("sent"), overwrites: false)
        let text = try self.text([Self.post(body), Self.post("short", id: 2)]) { CurlScript($0, .bash, files: folder) }
        #expect(
            text.contains("--data-binary @\(folder.path)/1-request.bytes")
                || text.contains("--data-binary '@\(folder.path)/1-request.bytes'"), "\(text)")
        #expect(try self.folder.names(in: "sent") == ["1-request.bytes"])
        #expect(try self.folder.read("sent/1-request.bytes") == Array(body.utf8))
        // Without a folder, the script says how to obtain them.
        #expect(try self.text([Self.post(body)]) { CurlScript($0, .bash) }.contains("--curl --files wiretape-1 > /dev/null"))
    }

    // MARK: Raw

    @Test func rawMessagesAreAsOnTheWire() throws {
        let text = try self.text([Self.post("{}")]) { RawMessages($0, .both) }
        let request =
            "POST /pets?kind=cat&x HTTP/1.1\r\nHost: a.test:8080\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}\r\n"
        // Nothing else tells where an answer ends that ended with its connection.
        #expect(text == request + "HTTP/1.1 201 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\nok\r\n")
        let answer = try self.text([Self.post("{}")]) { RawMessages($0, .response) }
        #expect(answer == "HTTP/1.1 201 OK\r\nContent-Type: application/json\r\n\r\nok")
    }

    @Test func messagesOfHTTP2GetALength() throws {
        var interaction = Self.post("{}")
        interaction.request.version = .http2
        interaction.request.headers = HeaderFields(["accept: */*"])
        interaction.response?.version = .http2
        var empty = Interaction.sample(2, status: 204)
        empty.response?.version = .http2
        let text = try self.text([interaction, empty]) { RawMessages($0, .both) }
        #expect(text.contains("accept: */*\r\nContent-Length: 2\r\n\r\n{}\r\n"), "\(text)")
        #expect(text.components(separatedBy: "Content-Length: 2\r\n").count == 3 && !text.contains("Content-Length: 0"), "\(text)")
    }

    @Test func chunksAreAsTheyWereRecorded() throws {
        var interaction = Interaction.sample(1, body: Body(size: 5, content: .text(Array("hello".utf8))))
        interaction.response?.headers = HeaderFields(["Transfer-Encoding: chunked"])
        interaction.response?.body?.arrival = Arrival(
            isChunked: true, pieces: [.init(at: 0, size: 2), .init(at: 1, size: 3, line: "03;x")])
        let text = try self.text([interaction]) { RawMessages($0, .response) }
        #expect(text == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n03;x\r\nllo\r\n0\r\n\r\n")
    }

    // MARK: Postman

    @Test func aCollectionHasTheRequestAndItsAnswer() throws {
        let document = try JSONDocument(Array(try self.text([Self.post("{}")]) { PostmanCollection($0) }.utf8)).root
        #expect(document["info"]?["schema"]?.string?.hasSuffix("v2.1.0/collection.json") == true)
        let item = try #require(document["item"]?.elements.map { $0 }.first)
        let request = item["request"]
        #expect(request?["method"]?.string == "POST" && request?["body"]?["raw"]?.string == "{}")
        #expect(request?["url"]?["host"]?.elements.map { $0.string } == ["a", "test"] && request?["url"]?["port"]?.string == "8080")
        #expect(request?["url"]?["query"]?.elements.map { $0["key"]?.string } == ["kind", "x"])
        #expect(request?["header"]?.elements.map { $0["key"]?.string } == ["Host", "Content-Type"])
        let response = item["response"]?.elements.map { $0 }.first
        #expect(response?["code"]?.int == 201 && response?["body"]?.string == "ok")
    }

    @Test func eachPostmanVariableHasItsOwnTextAsValue() throws {
        let interaction = Self.post(#"{"a": "{{token:1}} {{{$guid}} {{no} {{}} { {{x}y}}", "b": "{{token:1}}"}"#)
        let document = try JSONDocument(Array(try self.text([interaction]) { PostmanCollection($0) }.utf8)).root
        let variables = document["variable"]?.elements.map { $0 } ?? []
        #expect(variables.map { $0["key"]?.string } == ["token:1", "$guid"])
        #expect(variables.map { $0["value"]?.string } == ["{{token:1}}", "{{$guid}}"])
    }

    @Test func partsHaveTheirValues() throws {
        let data =
            "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nRex\r\n--x\r\nContent-Disposition: form-data; name=\"f\"; "
            + "filename=\"b.txt\"\r\n\r\nhello\r\n--x--\r\n"
        let text = try self.text([Self.post(data, type: "multipart/form-data; boundary=x")]) { PostmanCollection($0) }
        let document = try JSONDocument(Array(text.utf8)).root
        let item = try #require(document["item"]?.elements.map { $0 }.first)
        let parts = item["request"]?["body"]?["formdata"]?.elements.map { $0 } ?? []
        #expect(parts.map { $0["value"]?.string } == ["Rex", nil] && parts.map { $0["src"]?.string } == [nil, "b.txt"])
        #expect(item["request"]?["header"]?.elements.map { $0["key"]?.string } == ["Host"] && item["description"] == nil)
    }

    @Test func bytesThatAreNoTextAreDescribed() throws {
        var interaction = Self.post("xx", type: "application/octet-stream")
        interaction.request.body = Body(size: 3, content: .binary([255, 0, 1]))
        let document = try JSONDocument(Array(try self.text([interaction]) { PostmanCollection($0) }.utf8)).root
        let item = try #require(document["item"]?.elements.map { $0 }.first)
        #expect(item["request"]?["body"] == nil && item["description"]?.string?.contains("3 bytes") == true)
    }

    // MARK: WireMock

    @Test func aWebSocketIsNoStub() throws {
        var interaction = Interaction.sample(1, status: 101)
        interaction.webSocket = .inline([])
        try RecordedExchanges.write([Interaction.sample(1)], to: self.path)
        var writer = WireMockMappings(ExportTarget(path: self.path) { _ in })
        try writer.begin()
        try writer.append(interaction, number: 1)
        #expect(writer.notes.count == 1)
    }

    @Test func equalRequestsAreStatesOfAScenario() throws {
        let interactions = [Self.post("{}", id: 1), Self.post("{\"a\":1}", id: 2), Self.post("{}", id: 3)]
        let document = try JSONDocument(Array(try self.text(interactions) { WireMockMappings($0) }.utf8)).root
        let stubs = document["mappings"]?.elements.map { $0 } ?? []
        #expect(stubs.map { $0["requiredScenarioState"]?.string } == ["Started", nil, "2"])
        #expect(stubs.map { $0["newScenarioState"]?.string } == ["2", nil, nil])
        #expect(stubs[0]["request"]?["url"]?.string == "/pets?kind=cat&x")
        #expect(stubs[1]["request"]?["bodyPatterns"]?.elements.map { $0["equalToJson"]?.string } == ["{\"a\":1}"])
        #expect(stubs[0]["response"]?["status"]?.int == 201 && stubs[0]["response"]?["body"]?.string == "ok")
    }

    // MARK: curl

    @Test func eachShellQuotesInItsOwnWay() throws {
        let interaction = Self.post(#"{"a": "it's \\ $x"}"#)
        let bash = try self.text([interaction]) { CurlScript($0, .bash) }
        #expect(bash.contains(#"--data-raw '{"a": "it'\''s \\ $x"}'"#), "\(bash)")
        let fish = try self.text([interaction]) { CurlScript($0, .fish) }
        #expect(fish.contains(#"--data-raw '{"a": "it\'s \\\\ $x"}'"#), "\(fish)")
        let powershell = try self.text([interaction]) { CurlScript($0, .powershell) }
        #expect(powershell.contains(#"data-raw = "{\"a\": \"it's \\\\ $x\"}""#), "\(powershell)")
        #expect(
            powershell.contains("@'\nurl = \"http://a.test:8080/pets?kind=cat&x\"\n")
                && powershell.hasPrefix("$OutputEncoding = ") && powershell.hasSuffix("'@ | & $curl --config -\n\n"))
    }

    @Test func requestThatCurlCannotSendIsAComment() throws {
        let text = try self.text([Interaction.sample(1, at: 0, "CONNECT", "https://a.test")]) { CurlScript($0, .bash) }
        #expect(text.split(separator: "\n").allSatisfy { $0.hasPrefix("#") }, "\(text)")
    }

    // MARK: Swift

    @Test func aTestMakesTheRequestsAndExpectsTheirStatus() throws {
        let text = try self.text([Self.post("{\"a\": \"\\n\"}"), Interaction.sample(2, at: 5)]) { SwiftTestText($0) }
        // URLRequest needs this import on Linux.
        #expect(text.contains("#if canImport(FoundationNetworking)\nimport FoundationNetworking\n#endif\n"), "\(text)")
        #expect(text.contains("@Test func replaysListPets() async throws {\n    try await withCassette(\"list-pets\") {\n"), "\(text)")
        #expect(text.contains(#"request1.httpBody = Data("{\"a\": \"\\n\"}".utf8)"#), "\(text)")
        #expect(text.contains("let request2 = URLRequest(url: URL(string: \"http://a/pets\")!)\n"), "\(text)")
        #expect(text.contains("#expect(response1.response?.status == 201)") && text.hasSuffix("    }\n}\n"))
    }

    @Test func literalsAndNamesCannotLeaveTheirPlace() {
        #expect(SwiftTestText.literal("a\"\\(x)\u{7}\n") == "\"a\\\"\\\\(x)\\u{7}\\n\"")
        #expect(SwiftTestText.identifier("shop/list-pets.v2") == "replaysShopListPetsV2")
        #expect(SwiftTestText.identifier("한글") == "replaysCassette" && SwiftTestText.identifier("2x") == "cassette2x")
    }
}
