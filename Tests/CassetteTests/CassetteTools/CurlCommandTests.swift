import CassetteModel
import CassetteStore
@testable import CassetteTools
import TapeTestSupport
import Testing

@Suite struct CurlCommandTests {
    private func command(_ interaction: Interaction) throws -> CurlCommand {
        try CurlCommand(interaction, number: 1, folder: "dir", reader: BodyReader(cassettePath: "/nowhere/pets.json"))
    }

    private func sample(_ method: String = "GET", _ url: String = "http://a/pets", _ fields: [String] = [], body: Body? = nil)
        -> Interaction
    {
        var interaction = Interaction.sample(1, method, url)
        interaction.request.headers = HeaderFields(["Host: a", "User-Agent: x", "Accept: */*"] + fields)
        interaction.request.body = body
        return interaction
    }

    @Test func aPlainRequestIsShort() throws {
        #expect(try self.command(self.sample()).text == "curl 'http://a/pets' \\\n  -H 'User-Agent: x' \\\n  -H 'Accept: */*'\n")
    }

    @Test(arguments: [
        ("HEAD", "http://a/", [] as [String], "--head"), ("DELETE", "http://a/", [], "-X DELETE"), ("GET", "https://a/", [], "--http1.1"),
        ("GET", "http://a/[1]", [], "--globoff"), ("GET", "http://a/../b", [], "--path-as-is"), ("GET", "http://b/", [], "-H 'Host: a'"),
        ("GET", "http://a/", ["Accept-Encoding: gzip"], "--compressed"), ("GET", "http://a/", ["X-Empty: "], "-H 'X-Empty;'"),
        ("GET", "http://a/", ["X: it's"], #"-H 'X: it'\''s'"#),
    ])
    func optionsFollowTheRequest(method: String, url: String, fields: [String], option: String) throws {
        #expect(try self.command(self.sample(method, url, fields)).text.split(separator: "\n").contains { $0.contains("  \(option)") })
    }

    @Test(arguments: [("https://a/", "--http2"), ("http://a/", "--http2-prior-knowledge")])
    func theVersionOfTheRequestIsSentAgain(url: String, option: String) throws {
        var interaction = self.sample("GET", url)
        interaction.request.version = .http2
        #expect(try self.command(interaction).text.contains("  \(option) \\\n"))
    }

    @Test func aCallIsSentWithItsMessagesInAFile() throws {
        let one = ProtoMessage(fields: [.text(1, "Rex")])
        let command = try self.command(.call([one], [.fields(.text(1, "ok"))]))
        #expect(
            command.text == """
                # the answer consists of messages with a prefix of five bytes each: add --output FILE; with --verbose, grpc-status is shown too
                curl 'http://a/pets.v1.Pets/Get' \\
                  --http2-prior-knowledge \\
                  -H 'content-type: application/grpc' \\
                  -H 'User-Agent:' \\
                  -H 'Accept:' \\
                  --data-binary '@dir/1-request.bytes'

                """)
        #expect(command.files.count == 1)
        let talk = try self.command(.call([one], [.fields(.text(1, "ok"), after: 1)]))
        #expect(talk.notes.contains { $0.contains("curl sends all of them at once") })
    }

    @Test func bodiesStandInTheCommandWhereTheyCan() throws {
        let text = Body(size: 2, content: .text(Array("@'".utf8)))
        #expect(try self.command(self.sample("POST", body: text)).text.hasSuffix("-H 'Content-Type:' \\\n  --data-raw '@'\\'''\n"))
        let lineEnds = Body(size: 3, content: .text(Array("a\r\n".utf8)))
        #expect(try self.command(self.sample("POST", body: lineEnds)).text.contains("--data-binary"))
        let empty = Body(size: 0, content: .empty)
        #expect(try self.command(self.sample("POST", body: empty)).text.hasSuffix("  --data-raw ''\n"))
        let binary = try self.command(self.sample("GET", body: Body(size: 1, content: .binary([0]))))
        #expect(binary.text.contains("  -X GET \\\n"))
        #expect(binary.text.hasSuffix("  --data-binary '@dir/1-request.bytes'\n"))
        #expect(binary.files.map(\.name) == ["1-request.bytes"])
    }

    @Test func aFormThatCurlWritesDifferentlySaysSo() throws {
        let odd = FormFixtures.body([(["Content-Disposition: form-data; name=a"], [120])])
        #expect(try self.command(FormFixtures.upload(odd)).notes.count == 1)
        #expect(try self.command(FormFixtures.upload(FormFixtures.pets)).notes == [])
        #expect(try self.command(FormFixtures.upload([13, 10] + FormFixtures.pets)).notes.count == 1)
    }

    @Test func aFormWithTheWrongBoundaryIsSentAsItIs() throws {
        let headers = HeaderFields(["Content-Type: multipart/form-data; boundary=other"])
        let command = try self.command(FormFixtures.upload(FormFixtures.pets, headers: headers))
        #expect(command.text.contains("-H 'Content-Type: multipart/form-data; boundary=other'"))
        #expect(command.text.contains("--data-binary"))
    }

    @Test func omissionsOfACommandAreNamed() throws {
        var interaction = self.sample("GET", "http://a/", ["X: \u{1B}[2J"])
        interaction.request.headers.append(line: Array("Y: ".utf8) + [0xE9])
        interaction.request.trailers = HeaderFields(["X-Sum: 1"])
        interaction.request.body = Body(size: 1, isComplete: false, content: .text([120]))
        #expect(
            try self.command(interaction).text.hasPrefix(
                """
                # omitted, because a command line cannot hold it: X: \\u{1b}[2J
                # omitted, because a command line cannot hold it: Y: \\xe9
                # the trailers are omitted: curl cannot send them
                # the recorded body was cut short: this sends what was received
                curl
                """))
    }

    @Test(arguments: [("CONNECT", "a:443"), ("GET", "file:///etc/passwd"), ("G;T", "http://a/"), ("GET", "http://a/\u{1B}")])
    func requestThatIsNotPlainHTTPIsRefused(method: String, url: String) {
        #expect(throws: InspectError.self) { try self.command(self.sample(method, url)) }
    }
}

@Suite struct CurlFormTests {
    private func form(_ head: [String], _ data: [UInt8] = Array("x".utf8)) throws -> CurlForm? {
        let bytes = FormFixtures.body([(head, data)])
        let parts = try #require(try FormFixtures.parts(bytes))
        return try CurlForm(parts, in: BodyContents(bytes), stem: "1-request", folder: "dir")
    }

    @Test(arguments: [
        ("name=\"a\"", "x", #"a="x""#), ("name=\"a\"", "@x\"\\;,<", #"a="@x\"\\;,<""#),
        ("name=\"a\"; filename=\"b;c.txt\"", "x", #"a="x";filename="b;c.txt""#),
        ("name=\"a\"; filename=\"\"", "", #"a="";filename="""#), ("name=\"이 름\"", "two\nlines\t", "이 름=\"two\nlines\t\""),
    ])
    func textStandsInTheCommand(parameters: String, data: String, argument: String) throws {
        let form = try self.form(["Content-Disposition: form-data; \(parameters)"], Array(data.utf8))
        #expect(form?.arguments == [argument])
        #expect(form?.files.isEmpty == true)
    }

    @Test(arguments: [[0], [0xFF], [13, 10], [0x1B], Array("\u{202E}".utf8), [UInt8](repeating: 65, count: 5000)] as [[UInt8]])
    func otherDataComeFromAFile(data: [UInt8]) throws {
        let form = try #require(
            try self.form(["Content-Disposition: form-data; name=\"a\"; filename=\"../b.bin\"", "Content-Type: a/b"], data))
        #expect(form.arguments == [#"a=@"dir/1-request-1-b.bin";filename="../b.bin";type=a/b"#])
        #expect(form.files.map(\.name) == ["1-request-1-b.bin"])
    }

    @Test func aFieldFromAFileIsNoUpload() throws {
        #expect(try self.form(["Content-Disposition: form-data; name=\"a\""], [0])?.arguments == [#"a=<"dir/1-request-1-a""#])
    }

    @Test func otherHeaderLinesAreHandedOver() throws {
        let head = ["Content-Disposition: form-data; name=\"a\"", "Content-Type: text/plain; charset=\"a\"", "X-Own: \"1\""]
        #expect(try self.form(head)?.arguments == [#"a="x";headers="Content-Type: text/plain; charset=\"a\"";headers="X-Own: \"1\"""#])
    }

    @Test(arguments: [
        ["Content-Disposition: form-data; name=\"a=b\""], ["Content-Disposition: form-data; name=\"a=\u{301}b\""],
        ["Content-Disposition: form-data; name=\"\""],
        ["Content-Disposition: attachment; name=\"a\""],
        ["Content-Type: text/plain"], ["Content-Disposition: form-data; name=\"a%0D%0Ab\""],
        ["Content-Disposition: form-data; name=\"a\"", "X: \u{1B}"],
    ])
    func formThatCurlCannotWriteHasNoArguments(head: [String]) throws {
        let form = try self.form(head)
        #expect(form?.arguments == nil)
    }

    @Test func partsWithinPartsAreNoForm() throws {
        let parts = try #require(try FormFixtures.parts(FormFixtures.nested))
        let form = try CurlForm(parts, in: BodyContents(FormFixtures.nested), stem: "1", folder: "dir")
        #expect(form?.arguments == nil)
    }

    @Test(arguments: [
        (["Content-Disposition: form-data; name=\"a\""], true), (["content-disposition: form-data; name=\"a\""], false),
        (["Content-Disposition: form-data; name=a"], false), (["Content-Disposition: form-data; name=\"a\"; filename=\"b.txt\""], false),
        (["Content-Disposition: form-data; name=\"a\"", "Content-Type: text/plain"], true),
        (["Content-Type: text/plain", "Content-Disposition: form-data; name=\"a\""], false),
        (["Content-Disposition: form-data; name=\"a%22\"; filename=\"b\"", "Content-Type: a/b", "X: y"], true),
    ])
    func saysWhetherCurlWritesTheSameLines(head: [String], isExact: Bool) throws {
        #expect(try self.form(head)?.isExact == isExact)
    }
}

@Suite struct FieldNamesTests {
    @Test(arguments: [("X-A", true), ("content-type", true), ("", false), ("a b", false), ("@file", false), ("x:", false), ("이름", false)])
    func tokensAreOfFewCharacters(text: String, isToken: Bool) {
        #expect(FieldNames.isToken(text) == isToken)
    }

    @Test func connectionFieldsAreOmitted() {
        #expect(FieldNames.isLeftOut("content-length", "3", isForm: false))
        #expect(FieldNames.isLeftOut("proxy-authorization", "Basic x", isForm: false))
        #expect(FieldNames.isLeftOut("connection", "Keep-Alive", isForm: false))
        #expect(!FieldNames.isLeftOut("connection", "close", isForm: false))
        #expect(FieldNames.isLeftOut("content-type", "multipart/form-data", isForm: true))
        #expect(!FieldNames.isLeftOut("content-type", "text/plain", isForm: false))
        #expect(!FieldNames.isLeftOut("cookie", "a=b", isForm: true))
    }

    @Test(arguments: [("http://a/b", "a"), ("https://u:p@a:8443?x", "a:8443"), ("http://[::1]:80/", "[::1]:80"), ("x", "")])
    func theAuthorityIsWithoutItsUser(url: String, authority: String) {
        #expect(FieldNames.authority(of: url) == authority)
    }
}

@Suite struct ShellWordTests {
    @Test(arguments: [
        ("Cassettes/pets.json", "Cassettes/pets.json"), ("이름.json", "이름.json"), ("my pets.json", "'my pets.json'"), ("it's", #"'it'\''s'"#),
        ("$HOME", "'$HOME'"),
        ("", "''"),
        // With a combining accent after it, the quote is one Character in Swift and still a quote in a shell.
        ("a'\u{301};id'\u{301}", "'a'\\''\u{301};id'\\''\u{301}'"),
    ])
    func isOneWordToAShell(word: String, quoted: String) {
        #expect(ShellWord.quoted(word) == quoted)
    }
}
