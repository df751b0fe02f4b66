import CassetteModel
import CassetteStore
import Foundation
import LocalHTTP
import Platform
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct InspectorTabsTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    /// A page whose imports make a cassette with one exchange of each file.
    private func tabs(opens: Bool = true) throws -> InspectorTabs {
        try RecordedExchanges.write([.sample(1)], to: self.folder.file("own.json"))
        var tools = InspectorTools()
        if opens {
            let path = self.folder.file("private")
            tools.folder = {
                try DroppedFiles.makeFolder(path)
                return PrivateFolder(path: path) { DroppedFiles.remove(path) }
            }
            tools.importRecordings = { files, path, _ in
                guard !files.contains(where: { $0.hasSuffix(".txt") }) else {
                    throw CassetteError(.damaged, "\"\(files[0])\" is no recording")
                }
                try RecordedExchanges.write(files.indices.map { .sample($0 + 1, at: Int64($0)) }, to: path)
                return ["once: something in \(files[0])"]
            }
        }
        return InspectorTabs(
            InspectorService(cassette: try InspectedCassette(path: self.folder.file("own.json")), tools: tools), tools: tools)
    }

    private func ask(_ tabs: InspectorTabs, _ target: String, _ body: String? = nil, bytes: [UInt8]? = nil) throws -> (
        status: Int, body: String
    ) {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let body = bytes ?? body.map { Array($0.utf8) }
        let request = LocalRequest(
            method: body == nil ? "GET" : "POST", path: parts[0], query: parts.count > 1 ? parts[1] : "", body: body ?? [])
        switch tabs.answer(request) {
        case .whole(let answer): return (answer.status, String(decoding: answer.body, as: UTF8.self))
        case .stream(let stream):
            var bytes: [UInt8] = []
            while let piece = try stream.next() { bytes += piece }
            return (stream.head.status, String(decoding: bytes, as: UTF8.self))
        }
    }

    private func upload(_ tabs: InspectorTabs, _ name: String, _ bytes: [UInt8], offset: Int = 0, drop: Int? = nil) throws -> (
        status: Int, body: String
    ) {
        let number = drop.map { "&drop=\($0)" } ?? ""
        let name = name.utf8.map { "%" + (Hex.encode([$0])) }.joined()
        return try self.ask(tabs, "/api/tabs/upload?name=\(name)&offset=\(offset)\(number)", bytes: bytes)
    }

    private func cassetteBytes(_ count: Int) throws -> [UInt8] {
        let path = self.folder.file("other.json")
        unlink(path)
        try RecordedExchanges.write((1...count).map { .sample($0, at: Int64($0)) }, to: path)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    @Test func aCassetteOpensInATabOfItsOwn() throws {
        let tabs = try self.tabs()
        let bytes = try self.cassetteBytes(3)
        #expect(try self.upload(tabs, "three.json", Array(bytes.prefix(100))).body == "{ \"drop\": 1 }\n")
        #expect(try self.upload(tabs, "three.json", Array(bytes.dropFirst(100)), offset: 100, drop: 1).status == 200)
        let opened = try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"three.json\" }")
        #expect(opened.status == 200 && opened.body.contains("\"opened\": [1]"), "\(opened.body)")
        #expect(try self.ask(tabs, "/api/t/1/state").body.contains("\"rows\": 3,"))
        #expect(try self.ask(tabs, "/api/t/1/state").body.contains("\"file\": \"three.json\""))
        #expect(try self.ask(tabs, "/api/state").body.contains("\"tabs\": [{ \"id\": 1, \"rows\": 3,"))
        #expect(try self.ask(tabs, "/api/t/1/x/3").status == 200)
        #expect(try self.ask(tabs, "/api/x/3").status == 404, "the command's own cassette has one exchange")
        #expect(try self.ask(tabs, "/api/tabs/close", "{ \"tab\": 1 }").status == 200)
        #expect(try self.ask(tabs, "/api/t/1/state").status == 404)
        #expect(!CassettePlace.exists(self.folder.file("private/d1")))
    }

    @Test func recordingsOfOtherToolsAreImported() throws {
        let tabs = try self.tabs()
        _ = try self.upload(tabs, "trace.har", [1])
        let opened = try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"trace.har\" }")
        #expect(opened.status == 200)
        let list = try self.ask(tabs, "/api/tabs").body
        #expect(list.contains("\"name\": \"trace.har\"") && list.contains("once: something in trace.har"), "\(list)")
        #expect(!list.contains(self.folder.path), "nobody knows the private folder")
    }

    @Test func aFolderIsOneImportAndItsCassettes() throws {
        let tabs = try self.tabs()
        _ = try self.upload(tabs, "all/a.har", [1])
        _ = try self.upload(tabs, "all/b.har", [1], drop: 1)
        _ = try self.upload(tabs, "all/deep/c.json", self.cassetteBytes(2), drop: 1)
        _ = try self.upload(tabs, "all/deep/c.bodies/x", [1], drop: 1)
        #expect(try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"all\" }").body.contains("\"opened\": [1, 2]"))
        #expect(try self.ask(tabs, "/api/t/1/state").body.contains("\"file\": \"c.json\""))
        #expect(try self.ask(tabs, "/api/t/2/state").body.contains("\"rows\": 2,"))
        // One tab is left, which needs the folder.
        _ = try self.ask(tabs, "/api/tabs/close", "{ \"tab\": 2 }")
        #expect(CassettePlace.exists(self.folder.file("private/d1")))
    }

    @Test(
        arguments: [
            "", "/a", "a/", "../a", "a/../../b", ".", "..", "a//b", "a\\b", "a\nb", "a\0b", String(repeating: "x", count: 201),
            String(repeating: "a/", count: 12) + "a",
        ])
    func namesThatLeadElsewhereAreRefused(_ name: String) throws {
        #expect(throws: LocalAnswer.self) { try DroppedFiles.parts(name) }
        #expect(try self.upload(self.tabs(), name, [1]).status == 400)
    }

    @Test func piecesComeInOrder() throws {
        let tabs = try self.tabs()
        #expect(try self.upload(tabs, "a.har", [1], offset: 5).status == 400)
        #expect(try self.upload(tabs, "a.har", [1, 2]).status == 200)
        #expect(try self.upload(tabs, "a.har", [3], offset: 1, drop: 2).status == 400)
        #expect(try self.upload(tabs, "a.har", [3], offset: 2, drop: 2).status == 200)
        #expect(try self.upload(tabs, "a.har", [1], drop: 99).status == 400)
    }

    @Test func aFileThatIsNoRecordingLeavesNothing() throws {
        let tabs = try self.tabs()
        _ = try self.upload(tabs, "notes.txt", [1])
        let opened = try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"notes.txt\" }")
        #expect(
            opened.status == 200 && opened.body.contains("\"problem\"") && opened.body.contains("is no recording")
                && !opened.body.contains(self.folder.path), "\(opened.body)")
        #expect(!CassettePlace.exists(self.folder.file("private/d1")))
        #expect(try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"notes.txt\" }").status == 400)
    }

    @Test func aPageThatOpensNothingSaysSo() throws {
        let tabs = try self.tabs(opens: false)
        #expect(try self.upload(tabs, "a.har", [1]).status == 403)
        #expect(try self.ask(tabs, "/api/tabs/record", "{}").status == 403)
        #expect(try self.ask(tabs, "/api/state").body.contains("\"opens\": false, \"records\": false, \"tabs\": []"))
    }

    @Test func downloadsOfATabAreItsOwn() throws {
        let tabs = try self.tabs()
        let bytes = try self.cassetteBytes(2)
        _ = try self.upload(tabs, "two.json", bytes)
        _ = try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"two.json\" }")
        let ticket = try self.ask(tabs, "/api/t/1/tickets", "{ \"format\": \"cassette\" }")
        let path = try #require(try JSONDocument(Array(ticket.body.utf8)).root["path"]?.string)
        #expect(path.hasSuffix("/two.json"))
        #expect(try self.ask(tabs, path).body == String(decoding: bytes, as: UTF8.self))
        #expect(try self.ask(tabs, path).status == 404, "a ticket is valid once")
    }

    @Test func theEndRemovesEverything() throws {
        let tabs = try self.tabs()
        _ = try self.upload(tabs, "two.json", self.cassetteBytes(2))
        _ = try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"two.json\" }")
        tabs.close()
        #expect(!CassettePlace.exists(self.folder.file("private")))
    }

    @Test func exchangesOfTwoTabsAreCompared() throws {
        let tabs = try self.tabs()
        while tabs.main.cassette.refresh() {}
        _ = try self.upload(tabs, "two.json", self.cassetteBytes(2))
        _ = try self.ask(tabs, "/api/tabs/open", "{ \"drop\": 1, \"name\": \"two.json\" }")
        let order = "{ \"left\": { \"tab\": 0, \"key\": 1 }, \"right\": { \"tab\": 1, \"key\": 2 } }"
        #expect(try self.ask(tabs, "/api/diffs", order).body == "{ \"changes\": [] }\n")
        #expect(try self.ask(tabs, "/api/uploads", order).status == 400, "neither has a body")
        #expect(try self.ask(tabs, "/api/diffs", order.replacing("\"key\": 2", with: "\"key\": 3")).status == 400)
    }
}

@Suite struct RowGroupingTests {
    @Test(
        arguments: [
            ("http://a/pets/17?x=1", "a", "/pets/…"), ("https://b:8443", "b:8443", "/"), ("http://a/v2/pets#x", "a", "/v2/pets"),
            ("http://a/3f2504e0-4f89-11d3-9a0c-0305e82c3301/x", "a", "/…/x"), ("http://a/pets/?q=/17", "a", "/pets/"),
        ])
    func pathsLeaveOutIdentifiers(_ url: String, _ host: String, _ path: String) {
        let parts = RowGrouping.parts(Array(url.utf8)[...])
        #expect(parts.host == host && parts.path == path)
    }

    @Test func otherGroupsAreRefused() {
        for wrong in ["", "header:", "bodies", "header"] {
            #expect(throws: LocalAnswer.self, "\(wrong)") { try RowGrouping(wrong) }
        }
    }
}
