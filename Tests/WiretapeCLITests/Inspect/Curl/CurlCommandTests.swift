import CassetteModel
import CassetteStore
import Testing

@testable import CassetteTools
@testable import WiretapeCLI

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

    @Test func bodiesStandInTheCommandWhereTheyCan() throws {
        let text = Body(size: 2, content: .text(Array("@'".utf8)))
        #expect(try self.command(self.sample("POST", body: text)).text.hasSuffix("-H 'Content-Type:' \\\n  --data-raw '@'\\'''\n"))
        let lineEnds = Body(size: 3, content: .text(Array("a\r\n".utf8)))
        #expect(try self.command(self.sample("POST", body: lineEnds)).text.contains("--data-binary"))
        let empty = Body(size: 0, content: .empty)
        #expect(try self.command(self.sample("POST", body: empty)).text.hasSuffix("  --data-raw ''\n"))
        let binary = try self.command(self.sample("GET", body: Body(size: 1, content: .binary([0]))))
        #expect(binary.text.contains("  -X GET \\\n"))
        #expect(binary.text.hasSuffix("  --data-binary '@dir/1-request.octets'\n"))
        #expect(binary.files.map(\.name) == ["1-request.octets"])
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

    @Test func whatACommandCannotHoldIsNamed() throws {
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
    func whatIsNoPlainRequestIsRefused(method: String, url: String) {
        #expect(throws: InspectError.self) { try self.command(self.sample(method, url)) }
    }
}
