import TapeTestSupport
import Testing

@testable import WiretapeTesting

struct CassetteNameTests {
    @Test(arguments: ["upload", "pets/upload", "보리/업로드 1", "a.b", "🦎/Zoë", "👩‍👩‍👧/family"]) func goodNameIsAPathBelowTheFolder(name: String)
        throws
    {
        #expect(try CassetteName(name).path(in: "/tmp/Cassettes") == "/tmp/Cassettes/\(name).json")
    }

    @Test func oneNameIsOneFileHoweverItIsComposed() throws {
        #expect(try CassetteName("Zoe\u{308}") == CassetteName("Zo\u{EB}"))
        #expect(try CassetteName("\u{1107}\u{1169}").description.unicodeScalars.count == 1)
    }

    @Test(arguments: [
        ("", "is empty"), ("/etc/passwd", "is an absolute path"), ("pets//upload", "has an empty part"), ("pets/", "has an empty part"),
        ("..", "leads out"), ("../pets", "leads out"), ("pets/../../x", "leads out"), (".", "begins with a dot"),
        ("pets/.hidden", "begins with a dot"), ("a\\b", "has a character"), ("C:x", "has a character"), ("a\0b", "has a character"),
        ("a\nb", "has a character"), ("a\u{202E}b", "has a character"), ("a?", "has a character"), (" a", "begins or ends with a space"),
        ("a /b", "begins or ends with a space"), ("pets/upload.json", "ends in \".json\""), ("pets/upload.JSON", "ends in \".json\""),
        (String(repeating: "가", count: 67), "more than 200 bytes"),
        (Array(repeating: "a", count: 17).joined(separator: "/"), "more than 16 parts"),
    ]) func badNameIsRefused(name: String, flaw: String) {
        let error = #expect(throws: CassetteTestError.self) { try CassetteName(name) }
        #expect(error?.code == .badName)
        #expect(error?.message.contains(flaw) == true)
        #expect(error?.message.hasSuffix("write folders and a name without \".json\", such as \"pets/upload\"") == true)
        #expect(error?.message.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" } == false)
    }

    @Test(arguments: [
        (["upload()"], "upload"), (["Pets", "Deep", "upload()"], "Pets/Deep/upload"), (["upload(_:)"], "upload"),
        (["upload(size:_:of:)"], "upload-size-of"), (["`two pets`()"], "two pets"), (["`a (b)`(c:)"], "a (b)-c"),
        (["`../x`()"], "-.-x"), (["`a:b*c`()"], "a-b-c"), (["`보리를 올린다`()"], "보리를 올린다"), (["``()"], "test"),
        (["x.json()"], "x-json"), ([], "test"), (["()"], "test"),
    ]) func testGivesItsName(components: [String], name: String) throws {
        #expect(CassetteName(ofTest: components).description == name)
    }

    /// Every test name gives a file name that can be written.
    @Test func nameOfATestIsAlwaysGood() throws {
        var random = SeededGenerator(seed: 7)
        let pieces = ["a", "/", ".", "..", " ", "`", "(", ")", ":", "_", "\0", "\\", "가", "e\u{301}", "🦎", ".json", "\u{202E}", "x:"]
        for _ in 0..<2000 {
            let component = (0..<Int.random(in: 0..<90, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
            let name = CassetteName(ofTest: [component, component + "()"])
            #expect(try CassetteName(name.description) == name, "\(component)")
        }
    }

    @Test func namesAreJoined() throws {
        #expect(try CassetteName("pets").appending(CassetteName("a/b")).description == "pets/a/b")
    }
}
