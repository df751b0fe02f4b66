import TapeProxy
import Testing

@testable import WiretapeCLI

@Suite struct ConfigFileTests {
    private let yaml = """
        repeat: last
        ignore: [query:all]
        cassettes:
          "pets*.json":
            repeat: cycle
            ignore: [query:pets]
          "slow/*.json":
            order: strict
          pets-new.json:
            repeat: never
        """

    private func settings(_ cassette: String, in folder: String = "/w/app") throws -> RunSettings {
        try ConfigFile(path: "/w/wiretape.yaml", bytes: Array(self.yaml.utf8)).settings(for: cassette, in: folder)
    }

    @Test func laterSectionsLieOverEarlierOnesAndAllOverTheTop() throws {
        #expect(try self.settings("a.json").repetition?.value == .last)
        #expect(try self.settings("pets.json").repetition?.value == .cycle)
        #expect(try self.settings("tapes/pets-new.json").repetition?.value == .never)
        #expect(try self.settings("pets.json").ignore.map(\.value) == ["query:all", "query:pets"])
        #expect(try self.settings("pets.json").repetition?.source == .file("/w/wiretape.yaml", line: 5, section: "pets*.json"))
    }

    @Test func aNameWithASlashIsSeenFromTheFile() throws {
        #expect(try self.settings("../slow/a.json").order?.value == .strict)
        #expect(try self.settings("slow/a.json").order == nil)
        #expect(try self.settings("slow/a.json", in: "/w").order?.value == .strict)
    }

    @Test func jsonIsReadByItsName() throws {
        let file = try ConfigFile(path: "w.json", bytes: Array("{\"repeat\": \"last\", \"cassettes\": {\"a\": {\"order\": \"any\"}}}".utf8))
        #expect(file.settings.repetition?.value == .last && file.sections.count == 1)
    }

    @Test func aFileThatIsNotThereOrTooLargeIsTold() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SettingError.self) { try ConfigFile(path: folder.file("none.yaml")) }
        let path = try folder.write(Array(repeating: UInt8(ascii: "#"), count: ConfigFile.sizeLimit + 1), to: "w.yaml")
        let error = #expect(throws: SettingError.self) { try ConfigFile(path: path) }
        #expect(error?.message.contains("has more than") == true)
        try folder.write(Array("#".utf8), to: "w.yaml")
        #expect(try ConfigFile(path: path).settings == RunSettings())
    }
}
