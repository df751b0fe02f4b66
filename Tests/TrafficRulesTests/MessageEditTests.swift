import CassetteFormat
import CassetteModel
import TapeBytes
import Testing
@testable import TrafficRules

@Suite struct MessageEditTests {
    @Test func aReplacementWithTooManyMatchesChangesNothing() throws {
        let text = String(repeating: "a", count: 100_001)
        let rules = try RulesText.engine("- request: { replace: [{ in: body, match: a, with: bb }] }")
        let plan = try #require(rules.plan(for: .post("http://a.test/", text, type: "text/plain"), now: .zero))
        var headers = HeaderFields(["Content-Type: text/plain"])
        let (body, notes) = try #require(plan.requestEdit).applyBody(Array(text.utf8), headers: &headers)
        #expect(body == Array(text.utf8) && notes.count == 1)
    }

    private func plan(_ yaml: String, folder: String? = nil) throws -> ExchangePlan {
        try #require(try RulesText.engine(yaml, folder: folder).plan(for: .get("http://a.example/"), now: .zero))
    }

    // MARK: Heads

    private func request(_ edit: String, _ head: RequestHeadFacts) throws -> (RequestHeadFacts, [String]) {
        var head = head
        let notes = try #require(try self.plan("- request: \(edit)").requestEdit).apply(to: &head)
        return (head, notes.map(\.text))
    }

    private let head = RequestHeadFacts(
        method: "GET", url: "https://a.example/pets?a=1&b=%20x&a=2", headers: HeaderFields(["Host: a.example", "X-Env: one", "x-env: two"]))

    @Test func headersAreSetRemovedAndReplacedIn() throws {
        let (head, notes) = try self.request(
            #"{ set: { "header:X-ENV": test, "header:X-New": "a b" }, remove: ["header:host", "header:absent"], replace: [{ in: "header:x-env", match: "t(.)s", with: "$1$$" }] }"#,
            self.head)
        #expect(head.headers.lines == ["X-Env: e$t", "X-New: a b"])
        #expect(notes == ["header:absent: it is not there, so nothing is changed"])
    }

    @Test(arguments: [
        (#"{ method: POST }"#, "POST", "https://a.example/pets?a=1&b=%20x&a=2"),
        (#"{ url: "http://b.example/x" }"#, "GET", "http://b.example/x"),
        (#"{ set: { path: /dogs } }"#, "GET", "https://a.example/dogs?a=1&b=%20x&a=2"),
        (#"{ set: { query: c=3 } }"#, "GET", "https://a.example/pets?c=3"),
        (#"{ remove: query }"#, "GET", "https://a.example/pets"),
        (#"{ set: { "query:a": "x&y" } }"#, "GET", "https://a.example/pets?a=x%26y&b=%20x"),
        (#"{ set: { "query:new one": é } }"#, "GET", "https://a.example/pets?a=1&b=%20x&a=2&new%20one=%C3%A9"),
        (#"{ remove: ["query:a", "query:b"] }"#, "GET", "https://a.example/pets"),
        (#"{ replace: { in: "query:b", match: x, with: "y+z" } }"#, "GET", "https://a.example/pets?a=1&b=%20y%2Bz&a=2"),
        (
            #"{ replace: { in: url, match: "^https://([^/]+)/", with: "http://$1:8080/v2/" } }"#, "GET",
            "http://a.example:8080/v2/pets?a=1&b=%20x&a=2"
        ),
    ])
    func theFirstLineIsEdited(edit: String, method: String, url: String) throws {
        let (head, notes) = try self.request(edit, self.head)
        #expect(head.method == method)
        #expect(head.url == url)
        #expect(notes == [])
    }

    @Test(arguments: [
        (#"{ replace: { in: url, match: https, with: ftp } }"#, "url: the result is no absolute URL with http or https"),
        (#"{ replace: { in: path, match: /, with: "" } }"#, "path: the result is no path"),
        (#"{ replace: { in: method, match: GET, with: get } }"#, "method: the result is no method"),
        (
            #"{ replace: { in: "header:x-env", match: zzz, with: "" } }"#,
            "header:x-env: nothing in it matches, or too much for one edit, so nothing is changed"
        ),
        (
            #"{ replace: { in: "header:x-env", match: "o", with: "\n" } }"#,
            "header:x-env: the result has a line end or a control character in it, so nothing is changed"
        ),
        (#"{ remove: "query:zzz" }"#, "query:zzz: it is not there, so nothing is changed"),
    ])
    func whatCannotBeEditedStays(edit: String, note: String) throws {
        let (head, notes) = try self.request(edit, self.head)
        #expect(head == self.head)
        #expect(notes == [note])
    }

    @Test func answersHaveStatusesAndReasons() throws {
        var head = ResponseHeadFacts(status: 200, reason: "OK", headers: HeaderFields(["ETag: a"]))
        let edit = try #require(try self.plan(#"- response: { status: 503, remove: ["header:etag"] }"#).responseEdit)
        #expect(edit.apply(to: &head) == [])
        #expect(head == ResponseHeadFacts(status: 503, reason: "Service Unavailable", headers: HeaderFields()))
        #expect(!edit.editsBody)
        let reason = try #require(try self.plan(#"- response: { reason: Fine }"#).responseEdit)
        #expect(reason.apply(to: &head) == [])
        #expect(head.reason == "Fine")
    }

    // MARK: Bodies

    private func body(
        _ edit: String, _ body: String, _ headers: [String] = ["Content-Type: application/json"], folder: String? = nil
    ) throws -> (body: String, headers: [String], notes: [String]) {
        var fields = HeaderFields(headers)
        let edit = try #require(try self.plan("- response: \(edit)", folder: folder).responseEdit)
        #expect(edit.editsBody)
        let (bytes, notes) = edit.applyBody(Array(body.utf8), headers: &fields)
        return (String(decoding: bytes, as: UTF8.self), fields.lines, notes.map(\.text))
    }

    @Test(arguments: [
        (#"{ set: { "json:/flags/beta": true } }"#, #"{"flags": {"beta": false, "x": 1}}"#, #"{"flags": {"beta": true, "x": 1}}"#),
        (#"{ set: { "json:/flags/new": "1" } }"#, #"{"flags": {"x": 1}}"#, #"{"flags": {"x": 1,"new":"1"}}"#),
        (#"{ set: { "json:/flags/new": 1 } }"#, #"{"flags": {}}"#, #"{"flags": {"new":1}}"#),
        (#"{ set: { "json:/a/*/id": null } }"#, #"{"a": [{"id": 1}, {"id": 2}]}"#, #"{"a": [{"id": null}, {"id": null}]}"#),
        (#"{ set: { "json:/a/1": { b: [c, 2] } } }"#, #"{"a": [1, 2, 3]}"#, #"{"a": [1, {"b":["c",2]}, 3]}"#),
        (#"{ set: { "json:/a/-": x } }"#, #"{"a": [1]}"#, #"{"a": [1,"x"]}"#),
        (#"{ set: { "json:/a/-": x } }"#, #"{"a": [ ]}"#, #"{"a": ["x" ]}"#),
        (#"{ set: { "json:": [] } }"#, #" {"a": 1} "#, " [] "),
        (#"{ set: { "json:/a~1b/c~0": 1 } }"#, #"{"a/b": {"c~": 2}}"#, #"{"a/b": {"c~": 1}}"#),
        (#"{ remove: ["json:/a"] }"#, #"{"a": 1, "b": 2}"#, #"{"b": 2}"#),
        (#"{ remove: ["json:/b"] }"#, #"{"a": 1, "b": 2}"#, #"{"a": 1}"#),
        (#"{ remove: ["json:/a"] }"#, #"{"a": 1}"#, "{}"),
        (#"{ remove: ["json:/a/1", "json:/a/0"] }"#, #"{"a": [1, 2, 3]}"#, #"{"a": [3]}"#),
        (#"{ remove: ["json:/a/*"] }"#, #"{"a": [1, 2, 3]}"#, #"{"a": []}"#),
        (#"{ remove: ["json:/*/x"] }"#, #"[{"x": 1, "y": 2}, {"y": 3, "x": 4}, {"x": 5}]"#, #"[{"y": 2}, {"y": 3}, {}]"#),
        (#"{ replace: { in: "json:/a", match: "([a-z])(\\d)", with: "$2\"$1" } }"#, #"{"a": "x1y2"}"#, #"{"a": "1\"x2\"y"}"#),
        (#"{ replace: { in: "json:/a", match: "1", with: "2" } }"#, #"{"a": 101}"#, #"{"a": 202}"#),
        (#"{ replace: { in: "json:/a", match: "1", with: "x" } }"#, #"{"a": 101}"#, #"{"a": "x0x"}"#),
        (#"{ replace: [{ in: body, match: prod, with: test }] }"#, #"{"prod": "production"}"#, #"{"test": "testuction"}"#),
        (#"{ body: new }"#, "old", "new"), (#"{ remove: [body] }"#, "old", ""),
    ])
    func contentIsEditedInPlace(edit: String, old: String, new: String) throws {
        let result = try self.body(edit, old, ["Content-Type: application/json", "Content-Length: \(old.utf8.count)"])
        #expect(result.body == new)
        #expect(result.headers == ["Content-Type: application/json", "Content-Length: \(new.utf8.count)"])
        #expect(result.notes == [])
    }

    @Test(arguments: [
        (#"{ set: { "json:/1/id": 7 } }"#, "{\"id\":1}\r\n\n{\"id\":2}\n", "{\"id\":1}\r\n\n{\"id\":7}\n"),
        (#"{ set: { "json:/*/id": 7 } }"#, "{\"id\":1}\n{\"id\":2}", "{\"id\":7}\n{\"id\":7}"),
        (#"{ remove: ["json:/0"] }"#, "{\"id\":1}\n{\"id\":2}\n", "{\"id\":2}\n"),
        (#"{ set: { "json:/1": [] } }"#, "\u{1e}{\"id\":1}\n\u{1e}{}\n", "\u{1e}{\"id\":1}\n\u{1e}[]\n"),
    ])
    func severalJSONTextsAreNumbered(edit: String, old: String, new: String) throws {
        let result = try self.body(
            edit, old, ["Content-Type: \(old.hasPrefix("\u{1e}") ? "application/json-seq" : "application/x-ndjson")"])
        #expect(result.body == new)
        #expect(result.notes == [])
    }

    @Test(arguments: [
        (#"{ set: { "json:/a/b": 1 } }"#, #"{"c": 1}"#, "json:/a/b: it is not there, so nothing is changed"),
        (#"{ set: { "json:/a/7": 1 } }"#, #"{"a": [1]}"#, "json:/a/7: it is not there, so nothing is changed"),
        (#"{ set: { "json:/a": 1 } }"#, "<a/>", "json:/a: the body is not JSON (expected a value in line 1), so nothing is changed"),
        (#"{ set: { "json:/a": 1 } }"#, "", "json:/a: there is no body"),
        (#"{ set: { "form:a": 1 } }"#, "a=2", "form:a: the body is not a form (application/x-www-form-urlencoded), so nothing is changed"),
        (#"{ set: { "part:a": 1 } }"#, "a=2", "part:a: the body is not multipart, so nothing is changed"),
        (#"{ set: { "xml:/a": 1 } }"#, "<a><b></a>", "xml:/a: the body is not well-formed XML, so nothing is changed"),
        (#"{ set: { "xml:/b": 1 } }"#, "<a>1</a>", "xml:/b: it is not there, so nothing is changed"),
        (
            #"{ replace: { in: body, match: z, with: a } }"#, "xy",
            "body: nothing in it matches, or too much for one edit, so nothing is changed"
        ),
    ])
    func whatIsNotThereIsNoted(edit: String, old: String, note: String) throws {
        let result = try self.body(edit, old)
        #expect(result.body == old)
        #expect(result.notes == [note])
    }

    @Test(arguments: [
        (#"{ set: { "form:a": "x&y z" } }"#, "a=1&b=2&a=3", "a=x%26y%20z&b=2"),
        (#"{ set: { "form:c": x } }"#, "a=1", "a=1&c=x"), (#"{ remove: ["form:a"] }"#, "a=1&b=+%20&a", "b=+%20"),
        (#"{ set: { "form:data|json:/id": 7 } }"#, "data=%7B%22id%22%3A1%7D&b=+", "data=%7B%22id%22%3A7%7D&b=+"),
        (#"{ replace: { in: "form:b", match: "o", with: "0" } }"#, "a=foo&b=f%6fo", "a=foo&b=f00"),
    ])
    func formsAreEditedFieldByField(edit: String, old: String, new: String) throws {
        let result = try self.body(edit, old, ["Content-Type: application/x-www-form-urlencoded"])
        #expect(result.body == new)
        #expect(result.notes == [])
    }

    @Test(arguments: [
        (#"{ set: { "xml:/a/b": "<&" } }"#, "<a><b>1</b><c>2</c><b>3</b></a>", "<a><b>&lt;&amp;</b><c>2</c><b>&lt;&amp;</b></a>"),
        (#"{ set: { "xml:/a/b[2]": x } }"#, "<a><b>1</b><b>2</b></a>", "<a><b>1</b><b>x</b></a>"),
        (#"{ set: { "xml:/s:a/@id": x } }"#, #"<s:a xmlns:s="u" id="1"/>"#, #"<s:a xmlns:s="u" id="x"/>"#),
        (#"{ replace: { in: "xml:/a/*", match: "\\d", with: "n" } }"#, "<a><b>1</b><c>2</c></a>", "<a><b>n</b><c>n</c></a>"),
    ])
    func elementsAndAttributesAreEdited(edit: String, old: String, new: String) throws {
        let result = try self.body(edit, old, ["Content-Type: application/xml"])
        #expect(result.body == new)
        #expect(result.notes == [])
    }

    // MARK: Multipart

    private static let type = "Content-Type: multipart/form-data; boundary=xyz"

    private static func parts(_ photo: String, _ meta: String, filename: String = "a.png", after: String = "") -> String {
        """
        --xyz\r
        Content-Disposition: form-data; name="photo"; filename="\(filename)"\r
        Content-Type: image/png\r
        \r
        \(photo)\r
        --xyz\r
        Content-Disposition: form-data; name="meta"\r
        Content-Type: application/json\r
        \r
        \(meta)\r
        --xyz--\r\n
        """
    }

    @Test func partsAreReplacedOneByOne() throws {
        let old = Self.parts("old bytes", #"{"id": 1}"#)
        #expect(try self.body(#"{ set: { "part:photo": new } }"#, old, [Self.type]).body == Self.parts("new", #"{"id": 1}"#))
        #expect(
            try self.body(#"{ set: { "part:meta|json:/id": 2 } }"#, old, [Self.type]).body == Self.parts("old bytes", #"{"id": 2}"#))
        #expect(
            try self.body(#"{ set: { "filename:photo": "ä \"b\".png" } }"#, old, [Self.type]).body
                == Self.parts("old bytes", #"{"id": 1}"#, filename: "ä %22b%22.png"))
        #expect(
            try self.body(#"{ replace: { in: "part:photo", match: "o", with: "0" } }"#, old, [Self.type]).body
                == Self.parts("0ld bytes", #"{"id": 1}"#))
        let removed = try self.body(#"{ remove: ["part:photo"] }"#, old, [Self.type])
        #expect(removed.body.hasPrefix("\r\n--xyz\r\nContent-Disposition: form-data; name=\"meta\""))
        #expect(removed.notes == [])
        for (edit, note) in [
            (#"{ set: { "part:absent": new } }"#, "part:absent: it is not there, so nothing is changed"),
            (#"{ set: { "filename:meta": new } }"#, "filename:meta: the part has no file name, so nothing is changed"),
            (#"{ set: { "part:photo": "--xyz" } }"#, "part:photo: the new content has the boundary in it, so nothing is changed"),
            (#"{ set: { "part:photo|json:/id": 2 } }"#, "part:photo|json:/id: the body is not JSON"),
        ] {
            let result = try self.body(edit, old, [Self.type])
            #expect(result.body == old)
            #expect(result.notes.count == 1)
            #expect(result.notes.first?.hasPrefix(note) == true, "\(result.notes)")
        }
    }

    @Test func partInBase64IsCodedAgain() throws {
        let part = { (data: String) in
            "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Transfer-Encoding: base64\r\n\r\n\(data)\r\n--xyz--\r\n"
        }
        #expect(try self.body(#"{ set: { "part:a": new } }"#, part("b2xk"), [Self.type]).body == part("bmV3"))
    }

    @Test func partIsReplacedByAFile() throws {
        let folder = try RuleFolderTests.Folder()
        try folder.write("photos/cat.png", "cat")
        let old = Self.parts("old bytes", "{}")
        let result = try self.body(#"{ set: { "part:photo": { file: photos/cat.png } } }"#, old, [Self.type], folder: folder.path)
        #expect(result.body == Self.parts("cat", "{}"))
        #expect(
            try RulesText.problem(#"- response: { set: { "part:photo": { file: photos/dog.png } } }"#, folder: folder.path)
                == "\"wiretape.yaml\" line 1: there is no file \"photos/dog.png\" in the folder of the rules file; create it, or correct the path"
        )
    }

    // MARK: Codings

    @Test(arguments: ["gzip", "deflate", "br", "zstd", "gzip, br"])
    func codedBodiesAreCodedAgain(encoding: String) throws {
        let old = Array(#"{"env": "prod", "list": [1, 2, 3, 1, 2, 3, 1, 2, 3]}"#.utf8)
        let names = encoding.split(separator: ", ")
        let chain = try EncoderChain(
            names.map { name in
                switch name {
                case "gzip": .gzip(nil, header: .plain)
                case "deflate": .deflate(nil)
                case "br": .brotli
                default: .zstandard
                }
            })
        var coded: [UInt8] = []
        try old.withUnsafeBytes { try chain.push($0) { coded.append(contentsOf: $0) } }
        try chain.finish { coded.append(contentsOf: $0) }
        var headers = HeaderFields(["Content-Encoding: \(encoding)", "Content-Type: application/json", "Content-Length: \(coded.count)"])
        let edit = try #require(try self.plan(#"- response: { set: { "json:/env": test } }"#).responseEdit)
        let (wire, notes) = edit.applyBody(coded, headers: &headers)
        #expect(notes == [])
        #expect(wire != coded)
        #expect(headers.lines == ["Content-Encoding: \(encoding)", "Content-Type: application/json", "Content-Length: \(wire.count)"])
        #expect(CodedBody.decoded(wire, headers) == Array(#"{"env": "test", "list": [1, 2, 3, 1, 2, 3, 1, 2, 3]}"#.utf8))
    }

    @Test(arguments: ["gzip", "identity, gzip, br", "x-unknown", "aws-chunked"])
    func bodyThatIsNotWhatItsFieldsSayStays(encoding: String) throws {
        let result = try self.body(#"{ set: { "json:/a": 1 } }"#, #"{"a": 2}"#, ["Content-Encoding: \(encoding)", "Content-Length: 8"])
        #expect(result.body == #"{"a": 2}"#)
        #expect(result.headers == ["Content-Encoding: \(encoding)", "Content-Length: 8"])
        #expect(result.notes.count == 1)
        #expect(result.notes.first?.hasPrefix("the body is not edited: the content coding \"") == true, "\(result.notes)")
    }

    @Test func digestsFitTheEditedBody() throws {
        func base64(_ checksum: BodyChecksum, _ text: String) -> String {
            var output: [UInt8] = []
            checksum.value(of: Array(text.utf8)).withUnsafeBytes { Base64.encode($0, into: &output) }
            return String(decoding: output, as: UTF8.self)
        }
        let (old, new) = (#"{"a": 2}"#, #"{"a": 10}"#)
        let headers = { (text: String) in
            [
                "Content-Digest: sha-256=:\(base64(.sha256, text)):", "Repr-Digest: sha-512=:\(base64(.sha512, text)):",
                "Digest: SHA-256=\(base64(.sha256, text))", "Content-MD5: \(base64(.md5, text))", "Content-Length: \(text.utf8.count)",
            ]
        }
        let result = try self.body(#"{ set: { "json:/a": 10 } }"#, old, headers(old))
        #expect(result.body == new)
        #expect(result.headers == headers(new))
        #expect(result.notes == [])
        let signed = try self.body(#"{ set: { "json:/a": 10 } }"#, old, ["X-Hub-Signature-256: sha256=ab"])
        #expect(signed.notes == ["x-hub-signature-256 does not fit the edited body"])
    }

    @Test func digestsOfTheContentFitTooWhereTheBodyIsCoded() throws {
        let (old, new) = (Array(#"{"a":2}"#.utf8), Array(#"{"a":1}"#.utf8))
        let coded = try #require(Base64.decode(Array("H4sIAAAAAAACA6tWSlSyMqoFAGz/Nn0HAAAA".utf8)))
        let hex = { (bytes: [UInt8]) in Hex.encode(BodyChecksum.sha256.value(of: bytes)) }
        var headers = HeaderFields(["Content-Encoding: gzip", "X-Content-SHA256: \(hex(old))", "X-Checksum-SHA256: \(hex(coded))"])
        let edit = try #require(try self.plan(#"- response: { set: { "json:/a": 1 } }"#).responseEdit)
        let (wire, notes) = edit.applyBody(coded, headers: &headers)
        #expect(notes == [])
        #expect(
            headers.lines == ["Content-Encoding: gzip", "X-Content-SHA256: \(hex(new))", "X-Checksum-SHA256: \(hex(wire))"])
    }

    @Test func bytesThatAnEditLeavesAreTheSame() throws {
        // The coded bytes too, which another encoder would not have made.
        let coded = try #require(Base64.decode(Array("H4sIAAAAAAAA/6tWSlSyMqwFAB8+Fj8HAAAA".utf8)))
        var headers = HeaderFields(["Content-Encoding: gzip"])
        let edit = try #require(try self.plan(#"- response: { set: { "json:/b/c": 1 } }"#).responseEdit)
        #expect(edit.applyBody(coded, headers: &headers).body == coded)
    }

    @Test func messagesAreEditedByThemselves() throws {
        let edit = try #require(
            try self.plan(#"- response: { set: { "json:/a": 1 }, replace: { in: body, match: x, with: y } }"#).responseEdit)
        let (content, notes) = edit.applyMessage(Array(#"{"a":"x","b":"x"}"#.utf8))
        #expect(String(decoding: content, as: UTF8.self) == #"{"a":1,"b":"y"}"#)
        #expect(notes == [])
    }

    @Test func wholeMessagesAreDecodedByTheFieldsThatCameWithThem() throws {
        let coded = try #require(Base64.decode(Array("H4sIAAAAAAACA6tWSlSyMqoFAGz/Nn0HAAAA".utf8)))
        let edit = try #require(
            try self.plan(#"- response: { set: { "json:/a": 1 }, remove: ["header:content-encoding"] }"#).responseEdit)
        var head = ResponseHeadFacts(status: 200, reason: "OK", headers: HeaderFields(["Content-Encoding: gzip"]))
        let (body, notes) = edit.apply(to: &head, body: coded)
        #expect(notes == [])
        #expect(head.headers.isEmpty)
        #expect(CodedBody.decoded(body, HeaderFields(["Content-Encoding: gzip"])) == Array(#"{"a":1}"#.utf8))
    }

    @Test func callsOfGRPCStayAsTheyAre() throws {
        let result = try self.body(#"{ body: x }"#, "abc", ["Content-Type: application/grpc"])
        #expect(result.body == "abc")
        #expect(result.notes == ["the body is not edited: its messages are of gRPC, whose fields cannot be edited"])
    }
}
