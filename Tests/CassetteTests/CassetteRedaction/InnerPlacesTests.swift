import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// Places in the content of parts and form fields, and in values of binary formats: the same ones that `--ignore` supports.
@Suite struct InnerPlacesTests {
    private static let form = "application/x-www-form-urlencoded"
    private static let multipart = "multipart/form-data; boundary=b"

    private static func part(_ name: String, _ content: String, type: String = "application/json") -> String {
        "--b\r\nContent-Disposition: form-data; name=\"\(name)\"\r\nContent-Type: \(type)\r\n\r\n\(content)\r\n"
    }

    private static func body(_ text: String, _ type: String, redact: [String] = [], keep: [String] = []) throws -> String {
        RedactionFixtures.body(text, type: type, rules: try RedactionRules(rules: redact, keep: keep))
    }

    @Test func ofAPart() throws {
        func body(_ meta: String, _ other: String) -> String {
            Self.part("meta", #"{"id":"\#(meta)"}"#) + Self.part("other", #"{"id":"\#(other)"}"#) + "--b--\r\n"
        }
        let redacted = try Self.body(body("blue-17", "red-18"), Self.multipart, redact: ["part:meta|json:/id"])
        #expect(redacted == body("{{id:1}}", "red-18"))
        let pattern = try Self.body(body("no 123456", "no 123457"), Self.multipart, redact: ["part:meta|json:/id=[0-9]+"])
        #expect(pattern == body("no {{id:1}}", "no 123457"))
    }

    /// A rule for redaction finds a value wherever a rule for comparison does.
    @Test func placeInJSONAfterAByteOrderMark() throws {
        let text = "\u{feff}{\"id\":\"blue-17\"}"
        #expect(try Self.body(text, "application/json", redact: ["json:/id"]) == "\u{feff}{\"id\":\"{{id:1}}\"}")
        let part = { (word: String) in Self.part("meta", "\u{feff}{\"id\":\"\(word)\"}") + "--b--\r\n" }
        #expect(try Self.body(part("blue-17"), Self.multipart, redact: ["part:meta|json:/id"]) == part("{{id:1}}"))
    }

    @Test func ofOneTextOfASequence() throws {
        let text = { (word: String) in "\u{1e}{\"id\":\"a\"}\n\u{1e}{\n  \"id\": \"\(word)\"\n}\n" }
        #expect(try Self.body(text("blue-17"), "application/json-seq", redact: ["json:/1/id"]) == text("{{id:1}}"))
        #expect(try Self.body(text("blue-17"), "application/json-seq", redact: ["json:/0/id"]).contains("blue-17"))
    }

    @Test func ofXMLThatIsCalledAForm() throws {
        #expect(try Self.body("<a><b>blue</b></a>", Self.form, redact: ["xml:/a/b"]) == "<a><b>{{b:1}}</b></a>")
    }

    @Test(arguments: [("part:1/1|json:/id", true), ("part:1|json:/id", true), ("part:1/2|json:/id", false), ("part:2|json:/id", false)])
    func ofAPartWithinAPart(place: String, isRedacted: Bool) throws {
        func body(_ word: String) -> String {
            let inner = "--c\r\nContent-Type: application/json\r\n\r\n{\"id\":\"\(word)\"}\r\n--c--\r\n"
            return "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n\(inner)\r\n--b--\r\n"
        }
        #expect(
            try Self.body(body("blue-17"), "multipart/mixed; boundary=b", redact: [place]) == body(isRedacted ? "{{id:1}}" : "blue-17"))
    }

    @Test func ofAPartByItsNumber() throws {
        func body(_ word: String) -> String {
            "--b\r\nContent-Type: application/json\r\n\r\n{}\r\n--b\r\nContent-Type: application/xml\r\n\r\n<a><b>\(word)</b></a>\r\n--b--\r\n"
        }
        #expect(try Self.body(body("blue"), "multipart/mixed; boundary=b", redact: ["part:2|xml:/a/b"]) == body("{{b:1}}"))
        #expect(try Self.body(body("blue"), "multipart/mixed; boundary=b", redact: ["part:1|xml:/a/b"]) == body("blue"))
    }

    @Test func ofAFieldOfAForm() throws {
        let text = "a=1&data=%7B%22id%22%3A+%22blue+sky%22%7D&x=%7B%22id%22%3A%22red%22%7D"
        let redacted = try Self.body(text, Self.form, redact: ["form:data|json:/id"])
        #expect(redacted == "a=1&data=%7B%22id%22%3A+%22%7B%7Bid%3A1%7D%7D%22%7D&x=%7B%22id%22%3A%22red%22%7D")
        let xml = try Self.body("data=%3Ca+b%3D%22blue%22%2F%3E", Self.form, redact: ["form:data|xml:/a/@b"])
        #expect(xml == "data=%3Ca+b%3D%22%7B%7Bb%3A1%7D%7D%22%2F%3E")
    }

    @Test func innerPlacesCanBeKept() throws {
        let text = Self.part("meta", #"{"password":"h7nter2Xq"}"#) + "--b--\r\n"
        #expect(try Self.body(text, Self.multipart) != text)
        #expect(try Self.body(text, Self.multipart, keep: ["part:meta|json:/password"]) == text)
        let form = "data=%7B%22password%22%3A%22h7nter2Xq%22%7D"
        #expect(try Self.body(form, Self.form) != form)
        #expect(try Self.body(form, Self.form, keep: ["form:data|json:/password"]) == form)
    }

    @Test func aBarWithoutAPlaceIsOfTheName() throws {
        #expect(try RedactionPlace("form:a|b") == .form("a|b"))
        #expect(try RedactionPlace("part:meta|json:/id") == .within(.part("meta"), .json(["id"])))
        #expect(try RedactionPlace("part:a|part:b|xml:/c") == .within(.part("a"), .within(.part("b"), .xml(["c"]))))
        #expect(throws: SettingSyntaxError.self) { try RedactionPlace("part:meta|json:id") }
    }

    /// `--ignore json:/0/id` means the first of several texts, and so does the redaction rule; without a number, it means every one.
    @Test func ofOneOfSeveralTexts() throws {
        let text = "{\"id\":\"blue\"}\n{\"id\":\"red\"}\n"
        #expect(try Self.body(text, "application/x-ndjson", redact: ["json:/1/id"]) == "{\"id\":\"blue\"}\n{\"id\":\"{{id:1}}\"}\n")
        #expect(try Self.body(text, "application/x-ndjson", redact: ["json:/id"]) == "{\"id\":\"{{id:1}}\"}\n{\"id\":\"{{id:2}}\"}\n")
    }

    // MARK: Binary formats

    private static func bytes(_ hex: String, _ type: String, redact: [String] = [], keep: [String] = []) throws -> [UInt8] {
        RedactionFixtures.bytes(
            Hex.decode(Array(hex.utf8)) ?? [], ["Content-Type: \(type)"], rules: try RedactionRules(rules: redact, keep: keep))
    }

    private static let placeholder = Hex.encode(Array("{{id:1}}".utf8))

    @Test(arguments: [
        // {"id": "blue"}
        ("application/cbor", "a162696464626c7565", "json:/id", "a162696468"),
        ("application/msgpack", "81a26964a4626c7565", "json:/id", "81a26964a8"),
        // [{"id": "blue"}]
        ("application/cbor", "81a162696464626c7565", "json:/*/id", "81a162696468"),
        ("application/cbor", "81a162696464626c7565", "json:/0/id", "81a162696468"),
        // {"a": ["blue"]} as a whole
        ("application/msgpack", "81a26964" + "91a4626c7565", "json:/id", "81a2696491a8"),
        // A sequence: 1, {"id": "blue"}
        ("application/cbor-seq", "01a162696464626c7565", "json:/1/id", "01a162696468"),
    ])
    func valuesOfTrees(type: String, hex: String, rule: String, start: String) throws {
        #expect(Hex.encode(try Self.bytes(hex, type, redact: [rule])) == start + Self.placeholder)
    }

    @Test func otherValuesOfTreesStay() throws {
        for (type, hex) in [("application/cbor", "a162696464626c7565"), ("application/msgpack", "81a26964a4626c7565")] {
            #expect(Hex.encode(try Self.bytes(hex, type, redact: ["json:/other"])) == hex)
            #expect(Hex.encode(try Self.bytes(hex, type, redact: ["json:/id/x"])) == hex)
        }
        // {1: 4711, "a": 4711}: a number becomes 0.
        #expect(Hex.encode(try Self.bytes("a20119126761611912" + "67", "application/cbor", redact: ["json:/1"])) == "a201006161191267")
        // {"password": "h7nter2Xq"}
        let secret = "a168" + Hex.encode(Array("password".utf8)) + "69" + Hex.encode(Array("h7nter2Xq".utf8))
        #expect(Hex.encode(try Self.bytes(secret, "application/cbor")) != secret)
        #expect(Hex.encode(try Self.bytes(secret, "application/cbor", keep: ["json:/password"])) == secret)
    }
}
