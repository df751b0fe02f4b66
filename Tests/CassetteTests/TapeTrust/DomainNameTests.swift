@testable import TapeTrust
import Testing

@Suite struct DomainNameTests {
    private func ascii(_ name: String) throws(DomainName.Problem) -> String { try DomainName.ascii(name[...]) }

    @Test(arguments: [
        ("Example.COM", "example.com"), ("example.com.", "example.com"), ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.Example", "xn--bcher-kva.example"), ("한국.example", "xn--3e0b707e.example"), ("faß.de", "xn--fa-hia.de"),
        ("ΒΌΛΟΣ.gr", "xn--nxasmq6b.gr"), ("ÅNGSTRÖM.se", "xn--ngstrm-hua5l.se"), ("İstanbul.tr", "xn--istanbul-o0e.tr"),
        ("пример.рф", "xn--e1afmkfd.xn--p1ai"), ("xn--BCHER-kva.example", "xn--bcher-kva.example"),
        ("उदाहरण.परीक्षा", "xn--p1b6ci4b4b3a.xn--11b5bs3a9aj6g"),
    ])
    func namesAreWrittenAsOnTheWire(name: String, ascii: String) throws {
        #expect(try self.ascii(name) == ascii)
    }

    @Test(arguments: [
        ("u\u{308}ber.de", "über.de"), ("U\u{308}BER.de", "über.de"), ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{116E}\u{11A8}.test", "한국.test"),
        ("e\u{302}\u{301}.vn", "ế.vn"), ("o\u{323}\u{302}.vn", "ộ.vn"), ("か\u{3099}.jp", "が.jp"), ("\u{212B}.se", "å.se"),
    ])
    func separateAccentsMakeNoOtherName(name: String, composed: String) throws {
        #expect(Array(name.unicodeScalars) != Array(composed.unicodeScalars))
        #expect(try self.ascii(name) == self.ascii(composed))
    }

    @Test(arguments: ["☃.net", "ａ.test", "ﬁ.test", "a\u{200D}ü.test", "ü😀.test", "日本。jp", "\u{F900}.test"])
    func nameThatNeedsFurtherMappingIsRefused(name: String) {
        let problem = #expect(throws: DomainName.Problem.self) { try self.ascii(name) }
        #expect(problem?.reason.contains("A-label") == true)
    }

    @Test func lengthsAreThoseOfTheWire() throws {
        let label = String(repeating: "a", count: 63)
        #expect(try self.ascii(label) == label)
        #expect(throws: DomainName.Problem(reason: "\"\(label)a\" takes more than 63 bytes")) { try self.ascii(label + "a") }
        #expect(throws: DomainName.Problem.self) { try self.ascii(String(repeating: "한", count: 63)) }
        let name = Array(repeating: label, count: 3).joined(separator: ".")
        #expect(try self.ascii(name + "." + String(repeating: "b", count: 61)).utf8.count == 253)
        #expect(throws: DomainName.Problem.self) { try self.ascii(name + "." + String(repeating: "b", count: 62)) }
    }

    @Test(arguments: ["", ".", "..", "a..b", "ü .test", ".a", "a b", "a:1", "1.2.3", "a.7", "*.a"])
    func invalidNameIsRefused(name: String) {
        #expect(throws: DomainName.Problem.self) { try self.ascii(name) }
    }
}

@Suite struct PunycodeTests {
    /// RFC 3492, 7.1: Arabic, simplified Chinese, Hebrew, Korean, Spanish, Vietnamese, and Japanese with digits.
    @Test(arguments: [
        ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
        ("세계의모든사람들이한국어를이해한다면얼마나좋을까", "989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c"),
        ("PorquénopuedensimplementehablarenEspañol", "PorqunopuedensimplementehablarenEspaol-fmd56a"),
        ("TạisaohọkhôngthểchỉnóitiếngViệt", "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"),
        ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
    ])
    func theSamplesOfTheRFC(text: String, punycode: String) {
        #expect(Punycode.encode(Array(text.unicodeScalars)) == punycode)
    }

    @Test func asciiAloneGetsAHyphen() {
        // RFC 3492, 7.1 (S).
        #expect(Punycode.encode(Array("-> $1.00 <-".unicodeScalars)) == "-> $1.00 <--")
        #expect(Punycode.encode([]) == "")
    }

    @Test func noTextIsTooLongOrTooFarUp() {
        #expect(!Punycode.encode(Array(repeating: "\u{10FFFF}", count: 100_000)).isEmpty)
        #expect(!Punycode.encode((0..<300).map { $0 % 2 == 0 ? "a" : "\u{10FFFD}" }).isEmpty)
    }
}
