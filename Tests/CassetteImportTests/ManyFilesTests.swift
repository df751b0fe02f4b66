import CassetteModel
import CassetteStore
import Foundation
import TapeTestSupport
import Testing
@testable import CassetteImport

@Suite struct ManyFilesTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    private func run(_ names: [String], isStrict: Bool = false) throws -> ImportReport {
        var options = ImportOptions()
        options.isStrict = isStrict
        return try CassetteImporter(options).run(names.map(self.importing.folder.file), to: self.importing.cassette, version: "1")
    }

    private static let broken = [
        "not.txt": "hello", "empty.har": "", "cut.har": String(HARText.log(HARText.entry(), HARText.entry()).dropLast(300)),
        "utf16.har": "",
        "bad.yml": "http_interactions:\n- request: [\n",
    ]

    @Test(arguments: broken.keys.sorted()) func anUnreadableFileDoesNotStopTheOthers(_ name: String) throws {
        let bytes = name == "utf16.har" ? [0xFF, 0xFE, 0x7B, 0] : Array(Self.broken[name, default: ""].utf8)
        try self.importing.folder.write(bytes, to: name)
        try self.importing.folder.write(HARText.log(HARText.entry()).utf8, to: "a.har")
        try self.importing.folder.write(HARText.log(HARText.entry("GET", "http://a.test/b")).utf8, to: "z.har")
        let report = try self.run(["a.har", name, "z.har"])
        #expect(report.failures.map { FileLocation($0.file).name } == [name] && report.failures[0].message.contains(name))
        // A file that ends early contributes nothing.
        #expect(report.exchanges == 2 && report.sources.count == 2)
        #expect(try RecordedExchanges.read(self.importing.cassette).map(\.request.url) == ["http://a.test/pets", "http://a.test/b"])
    }

    /// The permissions of a cassette and of its folder of bodies, made of files with these permissions.
    private func modes(_ files: [String: Int]) throws -> [Int] {
        let text = String(repeating: "/wD/", count: 10_000)
        let image = #""content": {"size": 30000, "mimeType": "image/png", "text": "\#(text)", "encoding": "base64"}"#
        for name in files.keys.sorted() { try self.importing.folder.write(HARText.log(HARText.entry(response: image)).utf8, to: name) }
        for (name, mode) in files {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: self.importing.folder.file(name))
        }
        _ = try self.run(files.keys.sorted())
        return try self.modes(of: ["out.json", "out.bodies"])
    }

    private func modes(of names: [String]) throws -> [Int] {
        try names.map {
            try #require(FileManager.default.attributesOfItem(atPath: self.importing.folder.file($0))[.posixPermissions] as? Int)
        }
    }

    @Test func nobodyMayReadMoreThanBefore() throws {
        #expect(try self.modes(["a.har": 0o644, "b.har": 0o640]).map { $0 & 0o027 } == [0, 0])
        try FileManager.default.removeItem(atPath: self.importing.cassette)
        #expect(try self.modes(["a.har": 0o600, "b.har": 0o644]).map { $0 & 0o077 } == [0, 0])
    }

    @Test(arguments: ["stubs", "stubs/mappings", "stubs/mappings/a.json", "stubs/mappings/in/b.json", "stubs/__files/c.txt"])
    func nobodyMayReadMoreThanAllFilesOfAFolder(isPrivate: String) throws {
        let stub = #"{"request": {"method": "GET", "url": "/a"}, "response": {"bodyFileName": "c.txt"}}"#
        try self.importing.folder.write(stub.utf8, to: "stubs/mappings/a.json")
        try self.importing.folder.write(stub.utf8, to: "stubs/mappings/in/b.json")
        try self.importing.folder.write("hello".utf8, to: "stubs/__files/c.txt")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: self.importing.folder.file(isPrivate))
        _ = try self.run(["stubs"])
        #expect(try self.modes(of: ["out.json"]).map { $0 & 0o077 } == [0])
    }

    @Test func strictImportStopsAtAnUnreadableFile() throws {
        try self.importing.folder.write("hello".utf8, to: "not.txt")
        try self.importing.folder.write(HARText.log(HARText.entry()).utf8, to: "a.har")
        #expect(throws: CassetteError.self) { try self.run(["a.har", "not.txt"], isStrict: true) }
        #expect(throws: CassetteError.self) { try self.run(["missing.har", "not.txt"]) }
        #expect(throws: CassetteError.self) { try self.run(["not.txt"]) }
        #expect(!self.importing.folder.exists("out.json"))
    }

    /// A killed import leaves bodies and a hidden file that does not look like a recording; the next import removes both.
    @Test func importIsHiddenUntilItIsCompleteAndRemovesLeftovers() throws {
        let folder = self.importing.folder
        try folder.write(HARText.log(HARText.entry()).utf8, to: "a.har")
        var during: [String] = []
        let importer = CassetteImporter(ImportOptions())
        func run() throws {
            _ = try importer.run([folder.file("a.har")], to: self.importing.cassette, version: "1") {
                if during.isEmpty { during = (try? folder.names()) ?? [] }
                return false
            }
        }
        try run()
        #expect(during.contains(".out.json.import") && !during.contains { $0.hasSuffix(".new.json") || $0 == "out.json" }, "\(during)")
        try FileManager.default.moveItem(atPath: self.importing.cassette, toPath: folder.file(".out.json.import"))
        let orphan = "\(String(repeating: "a", count: 64)).bin"
        try FileManager.default.createDirectory(atPath: folder.file("out.bodies"), withIntermediateDirectories: true)
        for name in [orphan, "undeveloped.raw"] { try folder.write([1], to: "out.bodies/\(name)") }
        try run()
        #expect(try folder.names().filter { !$0.hasSuffix(".har") }.sorted().filter { $0 != "out.bodies" } == ["out.json"])
        #expect(try folder.names(in: "out.bodies").isEmpty)
    }

    @Test(arguments: [("har", HARText.log()), ("warc", ""), ("blocked", HARText.log(blocked))])
    func filesWithoutExchangesLeaveNoCassette(_ name: String, _ text: String) throws {
        let message = try self.importing.failure(text, as: "in.\(name)") { if name == "warc" { $0.kind = .warc } }
        #expect(message.contains("no exchange to import") && message.contains("in.\(name)"), "\(message)")
        #expect(message.contains("was never sent") == (name == "blocked"), "\(message)")
        try self.importing.folder.write(text.utf8, to: "in.\(name)")
        try self.importing.folder.write(HARText.log(HARText.entry()).utf8, to: "a.har")
        guard name != "warc" else { return }
        #expect(try self.run(["in.\(name)", "a.har"]).exchanges == 1)
    }

    private static let blocked = HARText.entry(status: 0, response: #""_error": "net::ERR_BLOCKED_BY_CLIENT", "content": {"size": 0}"#)

    @Test func aMissingFileIsReported() throws {
        try self.importing.folder.write(HARText.log(HARText.entry()).utf8, to: "a.har")
        let report = try self.run(["missing.har", "a.har"])
        #expect(report.failures.count == 1 && report.exchanges == 1)
    }

    @Test func lossesOfAnUnreadableFileAreNotCounted() throws {
        // Its first entry is a blocked request.
        let entry = HARText.entry(status: 0, response: #""_error": "net::ERR_BLOCKED_BY_CLIENT", "content": {"size": 0}"#)
        try self.importing.folder.write(String(HARText.log(entry, HARText.entry()).dropLast(200)).utf8, to: "cut.har")
        try self.importing.folder.write(HARText.log(HARText.entry()).utf8, to: "a.har")
        let report = try self.run(["cut.har", "a.har"])
        #expect(report.losses.isEmpty && report.failures.count == 1)
    }

    @Test func gzipIsDecodedInAnyFile() throws {
        let folder = self.importing.folder
        try folder.write(HARText.log(HARText.entry()).utf8, to: "a.har")
        try folder.write("http_interactions: []\nrecorded_with: VCR\n".utf8, to: "c.yml")
        for name in ["a.har", "c.yml"] {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["gzip", "-k", folder.file(name)]
            try process.run()
            process.waitUntilExit()
        }
        // Two members, like a file with appended data.
        let members = try folder.read("a.har.gz")
        let report = try self.run(["a.har.gz", "c.yml.gz"])
        #expect(report.sources.map(\.kind) == [.har, .vcr] && report.exchanges == 1)
        try folder.write(members.dropLast(9), to: "cut.gz")
        let message = #expect(throws: CassetteError.self) {
            try CassetteImporter(ImportOptions()).run([folder.file("cut.gz")], to: folder.file("x.json"), version: "1")
        }
        #expect(message?.message.contains("gunzip") == true)
    }

    @Test func aSecondDocumentIsLeftOut() throws {
        let interaction = """
            - request: {body: '', form: {}, headers: {}, url: 'http://a.test/', method: GET}
              response: {body: hi, headers: {}, status: 200 OK, code: 200, duration: 1ms}
            """
        let text = "---\nversion: 1\ninteractions:\n\(interaction)\n---\nversion: 1\ninteractions: [broken\n"
        let (report, exchanges) = try self.importing.run(text, as: "c.yaml")
        #expect(report.sources[0].kind == .goVCR && exchanges.count == 1)
        #expect(report.losses.first { $0.kind == "document" }?.count == 1)
    }

    @Test func aURLMayHave64KiB() throws {
        let url = "http://a.test/?\(String(repeating: "x", count: 64 * 1024 - 15))"
        let exchanges = try self.importing.run(HARText.log(HARText.entry("GET", url)), as: "a.har").interactions
        #expect(exchanges[0].request.url == url && url.utf8.count == 64 * 1024)
    }
}
