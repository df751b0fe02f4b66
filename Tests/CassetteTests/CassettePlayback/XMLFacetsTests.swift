import Testing

@testable import CassettePlayback
@testable import TapeBytes

struct XMLFacetsTests {
    static let lines = ["Content-Type: application/xml"]

    private func facets(_ text: String, _ rules: MatchRules = .standard) -> BodyFacets { MatchFixture.live(text, Self.lines, rules) }

    @Test(arguments: [
        (#"<a b="1" c='2'/>"#, "<a c=\"2\"  b='1' ></a>"), ("<?xml version=\"1.0\" encoding='UTF-8'?>\n<a/>\n", "<a/>"),
        ("<p:a xmlns:p=\"u\"><p:b/></p:a>", "<a xmlns='u'><q:b xmlns:q='u'/></a>"), ("<a xmlns:unused='u'/>", "<a/>"),
        ("<a>\n  <b>1</b>\n\t<c/>\n</a>", "<a><b>1</b><c></c></a>"), ("<a>x<!-- c -->y</a>", "<a>xy</a>"),
        ("<a><![CDATA[<&>]]>x</a>", "<a>&lt;&amp;&gt;x</a>"), ("<a>&#65;&#x42;&apos;&quot;</a>", "<a>AB'\"</a>"),
        ("<a>1\r\n2\r3</a>", "<a>1\n2\n3</a>"), ("<a b='1\n2\t3'/>", "<a b='1 2 3'/>"),
        ("<a b=\"'\" c='\"'/>", "<a c='&quot;' b='&apos;'/>"),
        ("<a><?p  x y?></a>", "<a><?p x y?></a>"), ("<?p x?><a/>", "<?p x?>\n<a/>"),
        ("<a xmlns:x='u' xmlns:y='v' x:k='1' y:k='2'/>", "<a xmlns:y='u' xmlns:x='v' x:k='2' y:k='1'/>"),
        (
            "<a xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns:s='u' i:type='s:int'/>",
            "<a xmlns:j='http://www.w3.org/2001/XMLSchema-instance' xmlns:t='u' j:type=' t:int'/>"
        ),
        ("<a xml:space='preserve'><b xml:space='default'> <c/> </b></a>", "<a xml:space='preserve'><b xml:space='default'><c/></b></a>"),
        ("<!DOCTYPE a SYSTEM 'x.dtd'><a b='1' c='2'/>", "<!DOCTYPE a SYSTEM 'x.dtd'><a c='2' b='1'/>"),
        ("<음식 값='1'/>", "<음식   값=\"1\"></음식>"),
    ]) func equal(left: String, right: String) {
        #expect(self.facets(left) == self.facets(right))
        #expect(self.facets(left).kind == .xml)
        #expect(self.facets(left).differences(fromRecorded: self.facets(right)) == [])
    }

    @Test(arguments: [
        ("<a b='1'/>", "<a b='2'/>", [#"XML "/a/@b" is "1", recorded is "2""#]),
        ("<a>1</a>", "<a>2</a>", [#"XML "/a" is "1", recorded is "2""#]),
        ("<a><b>1</b></a>", "<a><b>1</b><c>x</c></a>", [#"XML "/a/c", recorded as "x", is missing"#]),
        ("<a><b/><b>1</b></a>", "<a><b/><b>2</b></a>", [#"XML "/a/b[2]" is "1", recorded is "2""#]),
        ("<a><b/><c/></a>", "<a><c/><b/></a>", [#"XML "/a" is <b/><c/>, recorded is <c/><b/>"#]),
        ("<a>x<b/>y</a>", "<a>x<b/>z</a>", [#"XML "/a/text()[2]" is "y", recorded is "z""#]),
        ("<a xmlns='u'/>", "<a xmlns='v'/>", nil), ("<a xmlns='u'/>", "<a/>", nil),
        ("<x:a xmlns:x='u' x:b='1'/>", "<x:a xmlns:x='u' b='1'/>", nil),
        ("<a> </a>", "<a/>", nil), ("<a>x <b/></a>", "<a>x<b/></a>", nil), ("<a>x<b/> </a>", "<a>x<b/></a>", nil),
        ("<a xml:space='preserve'> <b/></a>", "<a xml:space='preserve'><b/></a>", nil),
        ("<p xmlns='http://www.w3.org/1999/xhtml'><b/> <i/></p>", "<p xmlns='http://www.w3.org/1999/xhtml'><b/><i/></p>", nil),
        ("<a>x<b/>y</a>", "<a>xy<b/></a>", nil), ("<a>x<b/></a>", "<a><b/>x</a>", nil), ("<a><?p 1?></a>", "<a><?p 2?></a>", nil),
        ("<a><?p 1?></a>", "<a/>", nil), ("<?p 1?><a/>", "<a/><?p 1?>", nil), ("<a><?p?><b/></a>", "<a><b/><?p?></a>", nil),
        ("<a><b/></a>", "<a>&lt;b/></a>", nil), ("<a>&#13;<b/></a>", "<a><b/></a>", nil), ("<a b='1 2'/>", "<a b='1&#10;2'/>", nil),
        ("<a><b><c/></b></a>", "<a><b/><c/></a>", nil), ("<a/>", "<A/>", nil), ("<a b=''/>", "<a/>", nil),
        ("<a xmlns:s='u' t='s:int'/>", "<a xmlns:s='v' t='s:int'/>", nil), ("<a xmlns:s='u'>s:int</a>", "<a xmlns:s='v'>s:int</a>", nil),
        (
            "<a xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns='u' i:type='int'/>",
            "<b:a xmlns:i='http://www.w3.org/2001/XMLSchema-instance' xmlns='v' xmlns:b='u' i:type='int'/>", nil
        ),
        ("<!DOCTYPE a SYSTEM 'x.dtd'><a/>", "<!DOCTYPE a SYSTEM 'y.dtd'><a/>", nil), ("<!DOCTYPE a SYSTEM 'x.dtd'><a/>", "<a/>", nil),
        ("<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<!DOCTYPE a [<!ENTITY e 'x'>]><a>&amp;e;</a>", nil),
        ("<!DOCTYPE a [<!ENTITY e 'x'>]><a>&e;</a>", "<!DOCTYPE a [<!ENTITY e 'y'>]><a>&e;</a>", nil),
        ("<!DOCTYPE a SYSTEM 'd'><a> <b/></a>", "<!DOCTYPE a SYSTEM 'd'><a><b/></a>", nil),
    ]) func unequal(left: String, right: String, why: [String]?) {
        #expect(self.facets(left).kind == .xml)
        #expect(self.facets(left) != self.facets(right))
        let differences = self.facets(left).differences(fromRecorded: self.facets(right)).map(\.description)
        #expect(!differences.isEmpty)
        if let why { #expect(differences == why) }
    }

    @Test(arguments: [
        "", "a", "<a>", "<a></b>", "<a/><b/>", "<a b='1' b='2'/>", "<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", "<p:a/>", "<a p:b='1'/>",
        "<a b=1/>",
        "<a b='<'/>", "<a>&e;</a>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>& </a>", "<a>]]></a>", "<a><!-- -- --></a>", "<a>\u{1}</a>",
        "x<a/>", "<a/>x",
        "<a xmlns:p=''/>", "<a xmlns:xmlns='u'/>", "<a xmlns:xml='u'/>", "<a xmlns:p='u' xmlns:p='v'/>", "<?xml version='1.1'?><a/>",
        " <?xml version='1.0'?><a/>", "<?xml encoding='UTF-8'?><a/>", "<a><![CDATA[</a>", "<a><?xml x?></a>",
        "<!DOCTYPE a><!DOCTYPE a><a/>",
        "<a b='1'c='2'/>", "<a:b:c xmlns:a='u'/>", "<a/><![CDATA[x]]>", "<1/>", "< a/>", "<!DOCTYPE a [<!ENTITY e 'x'>",
    ]) func malformedXMLIsComparedAsText(text: String) {
        #expect(self.facets(text).kind == (text.isEmpty ? .none : .text))
        #expect(self.facets(text) == self.facets(text))
    }

    @Test func anEntityBombIsNotExpanded() {
        let entities = (1..<30).map { "<!ENTITY e\($0) '&e\($0 - 1);&e\($0 - 1);&e\($0 - 1);&e\($0 - 1);'>" }.joined()
        let bomb = "<!DOCTYPE a [<!ENTITY e0 'x'>\(entities)]><a>&e29;</a>"
        #expect(self.facets(bomb).kind == .xml)
        #expect(self.facets(bomb).facets.allSatisfy { $0.size < 4000 })
    }

    @Test func deepDocumentsAreText() {
        func nested(_ depth: Int) -> String { String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth) }
        #expect(self.facets(nested(XMLReader.depthLimit)).kind == .xml)
        #expect(self.facets(nested(XMLReader.depthLimit + 1)).kind == .text)
        #expect(self.facets(nested(500_000)).kind == .text)
    }

    /// Quadratic work would not end with these numbers.
    @Test func anyNumberOfNamesAndPrefixesIsRead() {
        let uri = String(repeating: "u", count: 200_000)
        let wide = "<a xmlns:p='\(uri)'>" + String(repeating: "<p:b c='p:p:p:p:'/> ", count: 4_000) + "</a>"
        let many = "<a " + (0..<10_000).map { "b\($0)='1' xmlns:p\($0)='u\($0)'" }.joined(separator: " ") + "/>"
        let names = "<a>" + (0..<10_000).map { "<b\($0)/>" }.joined() + "</a>"
        for text in [wide, many, names] { #expect(self.facets(text).kind == .xml) }
    }

    // MARK: Types and encodings

    @Test(arguments: [
        ("text/xml; charset=utf-8", "<a/>", true), ("application/soap+xml", "<a/>", true),
        ("application/atom+xml;type=entry", "<a/>", true),
        ("text/plain", "<a/>", true), ("application/x-www-form-urlencoded", "<a/>", true), ("text/html", "<a/>", false),
        ("application/octet-stream", "<a/>", false), ("text/plain", "a<a/>", false),
    ]) func theTypeOrTheFirstByteTellsXML(type: String, text: String, isXML: Bool) {
        #expect((MatchFixture.live(text, ["Content-Type: \(type)"]).kind == .xml) == isXML)
    }

    @Test func encodingsAreAlike() {
        let text = "<?xml version='1.0' encoding='X'?><a b='é'>한</a>"
        func declared(_ name: String) -> String { text.replacing("X", with: name) }
        let utf8 = self.facets(declared("UTF-8"))
        let little = declared("UTF-16").utf16.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let big = declared("UTF-16").utf16.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        #expect(utf8.kind == .xml)
        #expect(MatchFixture.live([0xEF, 0xBB, 0xBF] + Array(declared("UTF-8").utf8), Self.lines) == utf8)
        #expect(MatchFixture.live([0xFF, 0xFE] + little, Self.lines) == utf8)
        #expect(MatchFixture.live([0xFE, 0xFF] + big, Self.lines) == utf8)
        #expect(MatchFixture.live(big, Self.lines) == utf8)
        let korean = Array("<?xml version='1.0' encoding='EUC-KR'?><a>".utf8) + [0xC7, 0xD1] + Array("</a>".utf8)
        #expect(MatchFixture.live(korean, Self.lines) == self.facets("<a>한</a>"))
        let latin = Array("<a>".utf8) + [0xE9] + Array("</a>".utf8)
        #expect(MatchFixture.live(latin, ["Content-Type: text/xml; charset=ISO-8859-1"]) == self.facets("<a>é</a>"))
        #expect(MatchFixture.live(latin, Self.lines).kind == .bytes)
    }

    @Test func theSameBytesInAnotherCharsetDiffer() {
        let bytes = Array("<a>é</a>".utf8)
        #expect(MatchFixture.live(bytes, Self.lines) != MatchFixture.live(bytes, ["Content-Type: application/xml; charset=iso-8859-1"]))
    }

    // MARK: Rules

    @Test(arguments: [
        ("xml:/Envelope/Header", true), ("xml:/s:Envelope/x:Header", true), ("xml:/*/Header/id", true), ("xml:/Envelope/*/id", true),
        ("xml:/Envelope/Header/id/text()", true), ("xml:/Envelope/Header/id[1]", true), ("xml:/Envelope/Header/id[2]", false),
        ("xml:/Envelope/Body", false), ("xml:/Envelope/Header/@id", false), ("xml:/Envelope/Header/*", true),
        ("xml:/Envelope/Header/id/*", false),
    ]) func anIgnoredElementIsLeftOut(place: String, isEqual: Bool) throws {
        func envelope(_ id: String) -> String {
            "<s:Envelope xmlns:s='http://schemas.xmlsoap.org/soap/envelope/'><s:Header><id>\(id)</id></s:Header><s:Body>x</s:Body></s:Envelope>"
        }
        let rules = try MatchRules(ignore: [place])
        #expect((self.facets(envelope("1"), rules) == self.facets(envelope("2"), rules)) == isEqual)
        #expect(
            self.facets(envelope("1"), rules) != self.facets(envelope("1").replacing(">x<", with: ">y<"), rules) || place.hasSuffix("Body"))
    }

    @Test func attributesAndMissingElementsAreLeftOut() throws {
        let attribute = try MatchRules(ignore: ["xml:/a/@c"])
        #expect(self.facets("<a b='1' c='2'/>", attribute) == self.facets("<a b='1'/>", attribute))
        #expect(self.facets("<a b='1' c='2'/>", attribute) != self.facets("<a b='2' c='2'/>", attribute))
        let all = try MatchRules(ignore: ["xml:/a/@*"])
        #expect(self.facets("<a b='1' c='2'/>", all) == self.facets("<a/>", all))
        #expect(self.facets("<a b='1'>1</a>", all) != self.facets("<a>2</a>", all))
        let element = try MatchRules(ignore: ["xml:/a/b"])
        #expect(self.facets("<a><b>1</b></a>", element) == self.facets("<a/>", element))
        #expect(self.facets("<a>\n <b>1</b>\n <c/></a>", element) == self.facets("<a><c/><b><c/></b></a>", element))
        #expect(self.facets("<a>x<b/>y</a>", element) == self.facets("<a>xy</a>", element))
        let both = try MatchRules(ignore: ["xml:/a/b", "xml:/a/text()[2]"])
        #expect(self.facets("<a>x<b/>y<c/></a>", both) == self.facets("<a>x<b/>z<c/></a>", both))
        #expect(self.facets("<a>x<b/>y<c/></a>", both) != self.facets("<a>z<b/>y<c/></a>", both))
        let text = try MatchRules(ignore: ["xml:/a/text()[2]"])
        #expect(self.facets("<a>\n<b/>y</a>", text) == self.facets("<a><b/></a>", text))
        #expect(self.facets("<a><c>1</c><b/></a>", element) != self.facets("<a><c>2</c></a>", element))
    }

    @Test func patternsMakeMatchingValuesAlike() throws {
        let rules = try MatchRules(patterns: ["xml:/a/@t=[0-9]+", "xml:/a/b=[0-9]+"])
        #expect(self.facets("<a t='1'><b>1</b></a>", rules) == self.facets("<a t='2'><b>3</b></a>", rules))
        #expect(self.facets("<a t='1'/>", rules) != self.facets("<a t='x'/>", rules))
        #expect(self.facets("<a t='1'/>", rules) != self.facets("<a/>", rules))
        #expect(self.facets("<a><b>1</b></a>", rules) != self.facets("<a><b>x</b></a>", rules))
        #expect(self.facets("<a><b k='1'>1</b></a>", rules) != self.facets("<a><b k='2'>1</b></a>", rules))
    }

    @Test func placeholdersMatchLiveValues() {
        let recorded = self.facets("<a t='{{env-A:1}}'><b>{{password:1}}-1</b><b>{{password:2}}-2</b></a>")
        #expect(recorded.fits(live: self.facets("<a t='x'><b>q-1</b><b>r-2</b></a>")))
        #expect(!recorded.fits(live: self.facets("<a t='x'><b>r-2</b><b>q-1</b></a>")))
        #expect(!recorded.fits(live: self.facets("<a t='x'><b>q-1</b><c>r-2</c></a>")))
        #expect(recorded == self.facets("<a t='{{env-A:7}}'><b>{{password:3}}-1</b><b>{{password:4}}-2</b></a>"))
    }

    // MARK: Property

    /// A tree of elements, and two spellings that Canonical XML considers equal.
    private struct Tree {
        var namespace: Int
        var name: Int
        var attributes: [Int: Int]
        var children: [Child]

        enum Child {
            case element(Tree)
            case text(String)
        }

        static func random(_ random: inout SplitMix64, depth: Int = 0) -> Tree {
            var tree = Tree(
                namespace: Int.random(in: 0..<3, using: &random), name: Int.random(in: 0..<3, using: &random), attributes: [:], children: []
            )
            for _ in 0..<Int.random(in: 0..<3, using: &random) {
                tree.attributes[Int.random(in: 0..<6, using: &random)] = Int.random(in: 0..<3, using: &random)
            }
            let isMixed = Bool.random(using: &random)
            for _ in 0..<(depth > 3 ? 0 : Int.random(in: 0..<4, using: &random)) {
                if isMixed, Bool.random(using: &random) {
                    if case .text = tree.children.last { continue }
                    tree.children.append(.text(["x", "é<", " &\n", "]]>"].randomElement(using: &random) ?? "x"))
                } else {
                    tree.children.append(.element(.random(&random, depth: depth + 1)))
                }
            }
            return tree
        }

        /// The only spelling: names with their namespaces, sorted attributes, and no white space between elements.
        var canonical: String {
            let texts = self.children.compactMap { if case .text(let text) = $0 { text } else { nil } }
            let hasElements = texts.count < self.children.count
            let keeps = !hasElements || texts.contains { !$0.allSatisfy { $0 == " " || $0 == "\n" } }
            let inside = self.children.map { child in
                switch child {
                case .element(let tree): tree.canonical
                case .text(let text): keeps ? "'\(text.unicodeScalars.map { "\($0.value)" })'" : ""
                }
            }
            return "(\(self.namespace):\(self.name) \(self.attributes.sorted { $0.key < $1.key }) \(inside.joined()))"
        }

        func written(_ random: inout SplitMix64) -> String {
            let prefixes = ["", "p", "q", "r"].shuffled(using: &random)
            // Attributes need prefixes; having no namespace is written without one.
            let byNamespace = prefixes.filter { !$0.isEmpty }
            func name(_ namespace: Int, _ local: Int) -> String { namespace == 0 ? "n\(local)" : "\(byNamespace[namespace]):n\(local)" }
            var parts = self.attributes.map { key, value in
                let quote = Bool.random(using: &random) ? "'" : "\""
                return "\(name(key % 3, key))=\(quote)\(Bool.random(using: &random) ? "&#\(48 + value);" : "\(value)")\(quote)"
            }
            parts += (1..<3).map { "xmlns:\(byNamespace[$0])='u\($0)'" }
            let usesDefault = self.namespace > 0 && Bool.random(using: &random)
            parts.append("xmlns='\(usesDefault ? "u\(self.namespace)" : "")'")
            let tag = usesDefault ? "n\(self.name)" : name(self.namespace, self.name)
            let attributes = parts.shuffled(using: &random).joined(separator: Bool.random(using: &random) ? " " : "\n\t")
            if self.children.isEmpty, Bool.random(using: &random) { return "<\(tag) \(attributes)/>" }
            let texts = self.children.contains { if case .text = $0 { true } else { false } }
            var inside = ""
            for child in self.children {
                if !texts, Bool.random(using: &random) { inside += "\n  " }
                if Bool.random(using: &random) { inside += "<!-- c -->" }
                switch child {
                case .element(let tree): inside += tree.written(&random)
                case .text(let text):
                    let isSection = Bool.random(using: &random) && !text.contains("]]>")
                    inside +=
                        isSection
                        ? "<![CDATA[\(text)]]>"
                        : text.replacing("&", with: "&amp;").replacing("<", with: "&#x3C;").replacing(">", with: "&gt;")
                }
            }
            return "<\(tag) \(attributes)>\(inside)</\(tag)>"
        }
    }

    @Test func documentsWithTheSameCanonicalXMLAreEqual() {
        var random = SplitMix64(seed: 20_261_128)
        var known: [String: BodyFacets] = [:]
        var digests: [BodyFacets: String] = [:]
        for _ in 0..<3000 {
            let tree = Tree.random(&random)
            let canonical = tree.canonical
            let (one, other) = (tree.written(&random), tree.written(&random))
            let facets = self.facets(one)
            #expect(facets.kind == .xml, "\(one)")
            #expect(facets == self.facets(other), "\(one)\n\(other)")
            if let before = known[canonical] { #expect(before == facets, "\(one)") }
            known[canonical] = facets
            if let before = digests[facets] { #expect(before == canonical, "\(one)") }
            digests[facets] = canonical
        }
        #expect(known.count > 1000)
    }
}
