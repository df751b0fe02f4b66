@testable import CassetteTools
import Testing

@Suite struct SpelledObjectTests {
    private func language(_ text: String) -> String? {
        guard let sentence = SpelledObject(Array(text.utf8))?.sentence("it") else { return nil }
        return sentence.split(separator: "the text that ").last?.split(separator: " makes of").first.map(String.init)
    }

    @Test(arguments: [
        ("[object Object]", "JavaScript"), ("[object File],[object File]", "JavaScript"), ("undefined", "JavaScript"),
        ("[B@1b6d3586", "Java"), ("[Ljava.lang.String;@1b6d3586", "Java"), ("java.io.ByteArrayInputStream@5f21", "Java"),
        ("com.pets.Cat$Toy@1b", "Java"), ("Up@1b2c3d4e", "Java"), ("HASH(0x55d0c8)", "Perl"), ("ARRAY(0x1)", "Perl"),
        ("GLOB(0x55d0c8)", "Perl"), ("Pet::Cat=HASH(0x55d0c8)", "Perl"), ("[137 80 78 71 13 10 26 10]", "Go"), ("&{Miso 3}", "Go"),
        ("map[a:1]", "Go"), ("<_io.BufferedReader name='a'>", "Python"), ("<__main__.Pet object at 0x7f12ab>", "Python"),
        ("<function pet at 0x7f12ab>", "Python"), ("<function a.<locals>.b at 0x7f12ab>", "Python"), ("<class 'pets.Cat'>", "Python"),
        ("b'abc'", "Python"), ("bytearray(b'abc')", "Python"), ("#<Object:0x000078>", "Ruby"), ("#<File:cat.png>", "Ruby"),
        ("System.Byte[]", "C#"), ("System.Collections.Generic.List`1[System.String]", "C#"), ("System.String[]", "C#"),
        ("Optional(1)", "Swift"), ("<NSURL: 0x600000c0>", "Objective-C"), ("<UIImage:0x600000c0 anonymous {1, 1}>", "Objective-C"),
        ("{length = 85, bytes = 0x89504e47 0d0a1a0a ... 42608260 }", "Objective-C"), ("Instance of 'Pet'", "Dart"),
        ("<Buffer 89 50 4e>", "Node"),
    ])
    func anObjectIsKnown(_ text: String, in language: String) {
        #expect(self.language(text) == language)
    }

    @Test(arguments: [
        "", "a", "[object]", "[object Object] and more", "[1 2 3]", "[1 2 3 4 5 6 7 256]", "[1, 2, 3, 4, 5, 6, 7, 8]", "Admin@123456",
        "Admin@cafe", "first.Last@cafe.example", "first.last@cafe", "first.Last@cafe", "miso@1b2c3d4e", "HASH(sha256)",
        "HASH(0x55) is a hash",
        "a=b=HASH(0x1)",
        "map[key]", "mapping", "&{", "&name;", "<p>it crashed at 0x12</p>", "<p>a</p>", "<img alt=\"at 0x12\">", "#hashtag", "#<3",
        "System.Text.Json", "System.IO", "Optional", "Instance of a class", "{length = 85}", "null", "NaN", "None", "Array", "bytes",
        "b'", "() => 1",
    ])
    func aTextIsNotTakenForAnObject(_ text: String) {
        #expect(self.language(text) == nil)
    }

    /// The beginning of a file in Go's spelling, whose last number may be cut.
    @Test func theBeginningOfALongListIsKnown() throws {
        let bytes = "[" + String(repeating: "137 80 78 71 ", count: 1000)
        #expect(try SpelledObject(BodyContents(Array((bytes + "10]").utf8))) != nil)
        #expect(try SpelledObject(BodyContents(Array(("[a" + bytes + "10]").utf8))) == nil)
    }
}
