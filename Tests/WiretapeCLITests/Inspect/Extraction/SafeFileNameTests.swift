import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct SafeFileNameTests {
    @Test(arguments: [
        ("a b.png", "a b.png"), ("이름.png", "이름.png"), ("../../etc/passwd", "passwd"), (#"C:\dir\a.png"#, "a.png"), ("..", ""), (".", ""),
        ("", ""),
        ("/", ""), ("a/", ""), (".bashrc", "bashrc"), ("-rf", "rf"), ("a\0b", "a_b"), ("a\nb", "a_b"), ("a\u{202E}gpj.exe", "a_gpj.exe"),
        ("a.txt. .", "a.txt"), ("$(id)`x`;&|<>*?\"", "_(id)_x_________"), ("\u{1B}[2J", "_[2J"), ("a\u{2028}b\u{A0}c", "a_b_c"),
        ("... x", "x"), ("../\u{301}a", "\u{301}a"), ("a\\\u{301}b", "\u{301}b"), (".\u{301}a", "\u{301}a"), ("a.\u{301}", "a.\u{301}"),
    ])
    func onlyAPlainNameIsLeft(name: String, safe: String) {
        #expect(SafeFileName.make(name) == safe)
    }

    @Test func aLongNameKeepsItsExtension() {
        let safe = SafeFileName.make(String(repeating: "이", count: 300) + ".jpeg")
        #expect(safe.hasSuffix("이.jpeg"))
        #expect(safe.utf8.count <= SafeFileName.limit)
        #expect(SafeFileName.make("a." + String(repeating: "b", count: 300)).utf8.count == SafeFileName.limit)
    }

    @Test func aLongNameOfOneCharacterIsCutWithinIt() {
        let safe = SafeFileName.make("e" + String(repeating: "\u{301}", count: 300) + ".png")
        #expect(safe.utf8.count <= SafeFileName.limit)
        #expect(safe.unicodeScalars.first == "e" && safe.utf8.suffix(4).elementsEqual(".png".utf8))
    }

    @Test func noNameLeavesTheFolder() {
        var generator = SeededGenerator(seed: 5)
        let alphabet = Array("./\\\0~ a\u{FF0F}\u{2215}\u{301}-:\n".unicodeScalars)
        for _ in 0..<2000 {
            var name = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0..<12, using: &generator) { name.append(alphabet.randomElement(using: &generator) ?? "a") }
            let safe = SafeFileName.make(String(name))
            #expect(!safe.utf8.contains { "/\\\0\n:".utf8.contains($0) } && safe.utf8.first != UInt8(ascii: "."))
        }
    }
}
