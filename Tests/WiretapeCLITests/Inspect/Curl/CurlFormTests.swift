import Testing

@testable import CassetteTools
@testable import WiretapeCLI

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
    func whatCurlCannotWriteIsNoForm(head: [String]) throws {
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
