import Testing

@testable import TapeTrust

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
    func whatWouldNeedMoreMappingIsRefused(name: String) {
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
    func whatIsNoNameIsRefused(name: String) {
        #expect(throws: DomainName.Problem.self) { try self.ascii(name) }
    }
}
