import Testing

@testable import CassetteRedaction

@Suite struct XMLPlacesTests {
    private static func body(_ xml: String, redact: [String] = [], keep: [String] = []) throws -> String {
        RedactionFixtures.body(xml, type: "application/xml", rules: try RedactionRules(rules: redact, keep: keep))
    }

    @Test(arguments: [
        ("xml:/a/b", "<a><b>blue</b><c>red</c></a>", "<a><b>{{b:1}}</b><c>red</c></a>"),
        ("xml:/**/b", "<a><b>blue</b><c><b>red</b></c></a>", "<a><b>{{b:1}}</b><c><b>{{b:2}}</b></c></a>"),
        ("xml:/a/**/@d", "<a d=\"1x\"><c><b d=\"blue\"/></c></a>", "<a d=\"{{d:1}}\"><c><b d=\"{{d:2}}\"/></c></a>"),
        ("xml:/x:a/y:b", "<p:a xmlns:p='u'><b>blue</b></p:a>", "<p:a xmlns:p='u'><b>{{b:1}}</b></p:a>"),
        ("xml:/a/@c", "<a c='blue' d='blue-ish'/>", "<a c='{{c:1}}' d='blue-ish'/>"),
        ("xml:/a/b[2]", "<a><b>one</b><b>two</b></a>", "<a><b>one</b><b>{{b:1}}</b></a>"),
        ("xml:/*/b/text()", "<a><b d='1'>blue</b></a>", "<a><b d='1'>{{b:1}}</b></a>"),
        ("xml:/a/b", "<a><b><![CDATA[blue]]></b></a>", "<a><b><![CDATA[{{b:1}}]]></b></a>"),
        ("xml:/a/b", "<a><b>\n  blue\n</b></a>", "<a><b>\n  {{b:1}}\n</b></a>"), ("xml:/a/b", "<a><b>blue", "<a><b>{{b:1}}"),
        ("xml:/a/b", "<a><b><c>blue</c></b></a>", "<a><b><c>{{b:1}}</c></b></a>"), ("xml:/a/b", "<c><b>blue</b></c>", "<c><b>blue</b></c>"),
        ("xml:/a/b=[0-9]+", "<a><b>no 123456</b></a>", "<a><b>no {{b:1}}</b></a>"),
        ("xml:/a/@c=[0-9]+", "<a c='no 123456'/>", "<a c='no {{c:1}}'/>"),
    ])
    func ruledPlacesAreRedacted(rule: String, xml: String, redacted: String) throws {
        #expect(try Self.body(xml, redact: [rule]) == redacted)
    }

    @Test func aKeptPlaceStays() throws {
        let xml = "<a><password>h7nter2Xq</password></a>"
        #expect(try Self.body(xml) == "<a><password>{{password:1}}</password></a>")
        #expect(try Self.body(xml, keep: ["xml:/a/password"]) == xml)
    }

    @Test(arguments: ["xml:", "xml:a", "xml:/", "xml:/a//b", "xml:/a/@"])
    func namesAreAskedFor(text: String) {
        #expect(throws: (any Error).self) { try RedactionPlace(text) }
    }
}
