import CassetteModel
import CassetteStore
@testable import CassetteTools
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@Suite struct BodyExtractionTests {
    private let temporary: TemporaryFolder

    init() throws { self.temporary = try TemporaryFolder() }

    /// - Returns: the names of the files, and the reported files.
    private func extract(_ interaction: Interaction) throws -> (names: [String], told: [ExtractedFile]) {
        var told: [ExtractedFile] = []
        let extraction = BodyExtraction(
            folder: try ExtractFolder(self.temporary.file("out"), overwrites: false), reader: BodyReader(cassettePath: "/nowhere/pets.json")
        )
        #expect(try extraction.extract(interaction, number: 3) { told.append($0) } == 0)
        return (try self.temporary.names(in: "out"), told)
    }

    @Test func everyPartAndBodyGetsAFile() throws {
        var upload = FormFixtures.upload(FormFixtures.pets)
        upload.response?.body = Body(size: 2, content: .json(Array("{}".utf8), style: .compact))
        let result = try self.extract(upload)
        #expect(
            result.names == [
                "3-request-1-title.txt", "3-request-2-meta.json", "3-request-3-a b.png", "3-request-4-note.txt", "3-request.multipart",
                "3-response.json",
            ])
        #expect(try self.temporary.read("out/3-request.multipart") == FormFixtures.pets)
        #expect(try self.temporary.read("out/3-request-3-a b.png") == FormFixtures.png)
        #expect(try self.temporary.read("out/3-request-4-note.txt") == Array("hello".utf8))
        #expect(result.told.map(\.part) == [nil, "1", "2", "3", "4", nil])
        #expect(result.told[3].words == "PNG image, 3 × 2")
    }

    @Test func everyMessageGetsAFile() throws {
        let json = GRPCMessage(content: .json(Array("{}".utf8), style: .compact))
        let result = try self.extract(.call([ProtoMessage(fields: [.text(1, "Rex")])], [.fields(.text(1, "ok")), json]))
        #expect(result.names == ["3-request-1.pb", "3-request.bin", "3-response-1.pb", "3-response-2.json", "3-response.bin"])
        #expect(try self.temporary.read("out/3-response-1.pb") == ProtoMessage(fields: [.text(1, "ok")]).bytes)
        #expect(try self.temporary.read("out/3-response-2.json") == Array("{}".utf8))
        #expect(try self.temporary.read("out/3-request.bin") == GRPCBodies.frame(.text(1, "Rex")))
        #expect(result.told.map(\.part) == [nil, "1", nil, "1", "2"])
    }

    @Test func messagesBeyondTheLimitAreCounted() throws {
        var talk = ConversationFixtures.head(1)
        func said(_ content: WebSocketContent) -> WebSocketMessage { WebSocketMessage(at: 1, from: .server, content: content) }
        let texts = (0..<3).map { said(.text(.text(Array("\($0)".utf8)))) }
        talk.webSocket = .inline([said(.ping([]))] + texts + [said(.close(WebSocketClose(payload: [])))])
        var extraction = BodyExtraction(
            folder: try ExtractFolder(self.temporary.file("out"), overwrites: false), reader: BodyReader(cassettePath: "/nowhere/pets.json")
        )
        extraction.messageLimit = 2
        #expect(try extraction.extract(talk, number: 3) { _ in } == 1)
        #expect(try self.temporary.names(in: "out") == ["3-message-2.txt", "3-message-3.txt"])
    }

    @Test func partsOfOneNameDoNotMeet() throws {
        let head = ["Content-Disposition: form-data; name=\"a\"; filename=\"a.txt\""]
        let names = try self.extract(FormFixtures.upload(FormFixtures.body([(head, [65]), (head, [66])]))).names
        #expect(names == ["3-request-1-a.txt", "3-request-2-a.txt", "3-request.multipart"])
    }

    @Test(
        arguments: [
            ("text/html", [60], "html"), ("", Array("{}".utf8), "json"), ("", [0, 1], "bin"), ("", FormFixtures.png, "png"),
            ("", [65], "txt"),
            ("image/jpeg", [0xFF, 0xD8], "jpg"),
        ] as [(String, [UInt8], String)])
    func theExtensionSaysWhatItHolds(type: String, bytes: [UInt8], ending: String) throws {
        let interaction = Interaction.sample(type: type.isEmpty ? nil : type, body: Body(size: bytes.count, content: .binary(bytes)))
        #expect(try self.extract(interaction).names == ["3-response.\(ending)"])
    }

    @Test func bytesThatKeepTheirCodingSaySo() throws {
        var interaction = Interaction.sample(type: "text/html", body: Body(size: 1, content: .binary([1])))
        interaction.response?.headers.append(name: "Content-Encoding", value: "gzip")
        #expect(try self.extract(interaction).names == ["3-response.html.gz"])
        interaction.response?.headers = HeaderFields(["Content-Encoding: ../../x, y"])
        #expect(try self.extract(interaction).names == ["3-response.bin.x.y", "3-response.html.gz"])
    }

    @Test func emptyBodiesGetNone() throws {
        #expect(try self.extract(.sample(body: Body(size: 0, content: .empty))).names == [])
    }

    @Test func aBodyWhoseCodingBreaksIsWrittenAsFarAsItCanBeReadAndAsReceived() throws {
        let broken = BrokenGzip.bytes
        var interaction = Interaction.sample(type: "text/plain", body: Body(size: broken.count, content: .binary(broken)))
        interaction.response?.headers.append(name: "Content-Encoding", value: "gzip")
        interaction.response?.body?.note = "content coding is not taken off"
        let result = try self.extract(interaction)
        #expect(result.names == ["3-response.txt", "3-response.txt.gz"])
        #expect(try self.temporary.read("out/3-response.txt") == Array("abc".utf8))
        #expect(try self.temporary.read("out/3-response.txt.gz") == broken)
        #expect(result.told.map(\.words) == ["text/plain, gzip breaks at byte 15 of 23: wrong gzip checksum", "as received"])
    }
}

@Suite struct ExtractFolderTests {
    private let temporary: TemporaryFolder
    private let contents = BodyContents(Array("new".utf8))

    init() throws { self.temporary = try TemporaryFolder() }

    private func folder(overwrites: Bool = false) throws -> ExtractFolder {
        try ExtractFolder(self.temporary.file("out"), overwrites: overwrites)
    }

    private func message(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch {
            return (error as? InspectError)?.message
        }
    }

    @Test func theFolderIsMade() throws {
        #expect(try self.folder().write("a.txt", self.contents) == self.temporary.file("out/a.txt"))
        #expect(try self.temporary.read("out/a.txt") == Array("new".utf8))
    }

    @Test func existingFileStaysUnlessOverwritingIsAllowed() throws {
        try self.temporary.write("old".utf8, to: "out/a.txt")
        let path = self.temporary.file("out/a.txt")
        #expect(
            self.message { try self.folder().write("a.txt", self.contents) }
                == "\"\(path)\" already exists: pass --overwrite, or choose another folder.")
        #expect(try self.temporary.read("out/a.txt") == Array("old".utf8))
        try self.folder(overwrites: true).write("a.txt", self.contents)
        #expect(try self.temporary.read("out/a.txt") == Array("new".utf8))
    }

    @Test(arguments: [false, true]) func nothingIsWrittenThroughALink(overwrites: Bool) throws {
        try self.temporary.write("precious".utf8, to: "precious")
        try self.temporary.write([], to: "out/b")
        for (link, target) in [("a.txt", "precious"), ("none.txt", "none")] {
            try FileManager.default.createSymbolicLink(
                atPath: self.temporary.file("out/\(link)"), withDestinationPath: self.temporary.file(target))
            let message = self.message { try self.folder(overwrites: overwrites).write(link, self.contents) }
            #expect((message == nil) == overwrites)
        }
        #expect(try self.temporary.read("precious") == Array("precious".utf8))
        #expect(!self.temporary.exists("none"))
    }

    @Test func halfABodyDoesNotStay() throws {
        let folder = try self.folder()
        #expect(throws: TestProblem.self) {
            _ = try folder.write("a.txt") { write in
                try [1, 2].withUnsafeBytes(write)
                throw TestProblem("the rest is missing")
            }
        }
        #expect(try self.temporary.names(in: "out") == [])
    }

    @Test func aBodyHasItsNameOnceItIsWhole() throws {
        try self.temporary.write([9], to: "out/.a.txt.part")
        let folder = try self.folder()
        _ = try folder.write("a.txt") { write in
            try [1, 2].withUnsafeBytes(write)
            #expect(try self.temporary.names(in: "out") == [".a.txt.part"])
        }
        #expect(try self.temporary.names(in: "out") == ["a.txt"])
    }

    @Test func nobodyMayReadBodiesWhoMayNotReadTheirCassette() throws {
        let cassette = try self.temporary.write([1], to: "pets.json")
        func mode(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: self.temporary.file(name))[.posixPermissions] as? Int
        }
        for (limit, file, folder) in [(0o600, 0o600, 0o700), (0o640, 0o640, 0o750)] {
            try FileManager.default.setAttributes([.posixPermissions: limit], ofItemAtPath: cassette)
            try ExtractFolder(self.temporary.file("out-\(limit)"), overwrites: false, from: cassette).write("a.txt", self.contents)
            #expect(try #require(try mode("out-\(limit)/a.txt")) & ~file == 0)
            #expect(try #require(try mode("out-\(limit)")) & ~folder == 0)
        }
    }

    @Test func aFolderThatCannotBeSaysWhy() throws {
        try self.temporary.write([], to: "file")
        #expect(
            self.message { _ = try ExtractFolder(self.temporary.file("file"), overwrites: true) }?.hasSuffix(
                " is not a folder: choose another one.") == true)
        let deep = self.temporary.file("none/out")
        #expect(
            self.message { _ = try ExtractFolder(deep, overwrites: false) }
                == "\"\(deep)\" cannot be created, because its parent folder does not exist: create that first.")
    }
}

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
