import CassetteExport
import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteImport

/// Archives converted to cassettes and back, and cassettes converted to archives and back.
@Suite struct ArchiveRoundTripTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func cassette(of archive: [UInt8], _ name: String) throws -> String {
        let source = try self.folder.write(archive, to: "\(name).har")
        var options = ImportOptions()
        options.redaction = nil
        _ = try CassetteImporter(options).run([source], to: self.folder.file("\(name).json"), version: "1")
        return self.folder.file("\(name).json")
    }

    private func archive(of path: String) throws -> [UInt8] {
        let cassette = try RecordedCassette(path: path)
        var bytes: [UInt8] = []
        var writer = ArchiveWriter(try cassette.headMember("har"), path: path) { bytes.append(contentsOf: $0) }
        try writer.begin()
        for index in 0..<cassette.count { try writer.append(cassette.interaction(at: index), number: index + 1) }
        try writer.end()
        return bytes
    }

    // MARK: From archive to archive

    @Test func anArchiveKeepsItsStandardMembers() throws {
        var generator = SeededGenerator(seed: 20)
        for round in 0..<rounds(60) {
            let made = RandomArchive.make(&generator)
            let again = try self.archive(of: self.cassette(of: Array(made.utf8), "a\(round)"))
            let before = try Self.entries(Array(made.utf8))
            let after = try Self.entries(again)
            #expect(before.count == after.count)
            #expect(try Self.pages(again) == Self.pages(Array(made.utf8)))
            for (old, new) in zip(before, after) {
                for difference in Self.differences(old, new, "entry") { Issue.record("round \(round): \(difference)\n\(made)") }
            }
        }
    }

    /// Entries are compared as text regardless of spelling: numbers by value, times as instants.
    private static func entries(_ bytes: [UInt8]) throws -> [[String: Any]] {
        try #require(self.log(bytes)?["entries"] as? [[String: Any]])
    }

    private static func log(_ bytes: [UInt8]) throws -> [String: Any]? {
        let document = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
        return document?["log"] as? [String: Any]
    }

    private static func pages(_ bytes: [UInt8]) throws -> NSArray { try #require(self.log(bytes)?["pages"] as? NSArray) }

    /// The members whose value differs in the new one; members that only the new one has do not count.
    private static func differences(_ old: Any, _ new: Any?, _ path: String) -> [String] {
        switch old {
        case let old as [String: Any]:
            guard let new = new as? [String: Any] else { return ["\(path) is no object"] }
            return old.keys.sorted().filter { !$0.hasPrefix("_") }.flatMap { Self.differences(old[$0] as Any, new[$0], "\(path).\($0)") }
        case let old as [Any]:
            guard var new = new as? [Any], new.count == old.count else { return ["\(path) has another count: \(String(describing: new))"] }
            var old = old
            // The fields of a body's coding are written after the others.
            if path.hasSuffix(".response.headers") { (old, new) = (old.sorted(by: Self.areInOrder), new.sorted(by: Self.areInOrder)) }
            return zip(old, new).enumerated().flatMap { Self.differences($1.0, $1.1, "\(path)[\($0)]") }
        case let old as NSNumber:
            guard let new = new as? NSNumber, abs(old.doubleValue - new.doubleValue) < 0.0015 else {
                return ["\(path): \(old), \(String(describing: new))"]
            }
            return []
        case let old as String:
            guard let new = new as? String else { return ["\(path) is \(String(describing: new))"] }
            if path.hasSuffix("startedDateTime") {
                return SourceWords.time(old) == SourceWords.time(new) ? [] : ["\(path): \(old), \(new)"]
            }
            return old == new ? [] : ["\(path): \(old), \(new)"]
        default: return []
        }
    }

    private static func areInOrder(_ left: Any, _ right: Any) -> Bool {
        func name(_ field: Any) -> String { (field as? [String: Any])?["name"] as? String ?? "" }
        return name(left) < name(right)
    }

    // MARK: From cassette to cassette

    @Test func aCassetteKeepsWhatAnArchiveHas() throws {
        var generator = SeededGenerator(seed: 21)
        for round in 0..<rounds(60) {
            let made = try self.cassette(of: Array(RandomArchive.make(&generator).utf8), "first\(round)")
            let again = try self.cassette(of: self.archive(of: made), "second\(round)")
            let before = try RecordedExchanges.read(made)
            let after = try RecordedExchanges.read(again)
            #expect(before.count == after.count)
            for (old, new) in zip(before, after) {
                #expect(old.started == new.started && old.outcome == new.outcome && old.timing.wait == new.timing.wait)
                #expect(
                    old.request.method == new.request.method && old.request.url == new.request.url
                        && old.request.version == new.request.version)
                #expect(old.request.headers == new.request.headers)
                #expect(old.response?.status == new.response?.status && old.response?.reason == new.response?.reason)
                #expect(old.response?.headers.lines.sorted() == new.response?.headers.lines.sorted(), "round \(round)")
                #expect(old.connection == new.connection)
                #expect(try Self.bytes(old.request.body, made) == Self.bytes(new.request.body, again), "round \(round)")
                #expect(try Self.bytes(old.response?.body, made) == Self.bytes(new.response?.body, again), "round \(round)")
                #expect(old.webSocket == new.webSocket)
            }
        }
    }

    /// A program may send a body without its type.
    @Test(arguments: [#"{\"a\": 1}"#, "text", #"\u0001"#]) func aRequestWithoutATypeGetsNone(_ text: String) throws {
        let post = #", "postData": {"mimeType": "", "text": "\#(text)"}"#
        let made = try self.cassette(of: Array(HARText.log(HARText.entry("POST", request: post)).utf8), "first")
        let again = try self.cassette(of: self.archive(of: made), "second")
        let (before, after) = (try RecordedExchanges.read(made)[0], try RecordedExchanges.read(again)[0])
        #expect(before.request.headers.lines == ["Host: a.test"] && after.request.headers.lines == ["Host: a.test"])
        #expect(try Self.bytes(after.request.body, again) == Self.bytes(before.request.body, made))
    }

    private static func bytes(_ body: Body?, _ path: String) throws -> [UInt8]? {
        try body.map { try BodyReader(cassettePath: path).wireBytes(of: $0, digest: { PortableSHA256() }).bytes }
    }
}

/// Archives of a few entries, as browsers write them.
private enum RandomArchive {
    static func make(_ generator: inout SeededGenerator) -> String {
        let count = Int.random(in: 1...3, using: &generator)
        var entries: [String] = []
        for index in 0..<count { entries.append(self.entry(index, &generator)) }
        return
            #"{"log": {"version": "1.2", "creator": {"name": "r", "version": "1"}, "pages": \#(self.pages), "entries": [\#(entries.joined(separator: ","))]}}"#
    }

    private static let pages =
        #"[{"startedDateTime": "2024-05-06T07:08:09Z", "id": "page_0", "title": "Pets", "pageTimings": {"onLoad": 1.5}, "comment": "f"}]"#

    private static func entry(_ index: Int, _ generator: inout SeededGenerator) -> String {
        let method = ["GET", "POST", "DELETE"].randomElement(using: &generator) ?? "GET"
        let status = [200, 201, 302, 404, 500].randomElement(using: &generator) ?? 200
        let version = ["HTTP/1.1", "http/2.0", "HTTP/2", "h3"].randomElement(using: &generator) ?? "HTTP/1.1"
        let second = Int.random(in: 10 + index * 10...19 + index * 10, using: &generator)
        // In the order of their start, like in a cassette.
        let hour = ["07:08:\(second).25Z", "09:08:\(second).25+02:00", "00:38:\(second).25-06:30"].randomElement(using: &generator) ?? ""
        let body = self.text(&generator)
        let coded = Bool.random(using: &generator)
        let size = body.utf8.count
        let compression = coded ? #", "compression": \#(Int.random(in: 1...50, using: &generator))"# : ""
        let coding = coded ? #", {"name": "Content-Encoding", "value": "gzip"}, {"name": "Content-Length", "value": "\#(size + 7)"}"# : ""
        let post = method == "POST" ? self.post(&generator) : (type: "", data: self.empty(&generator), size: 0)
        let connect = Bool.random(using: &generator)
        // Some exclude TLS from the connect time, and some count it twice.
        let connecting = ["4.25", "0.25"].randomElement(using: &generator) ?? ""
        let phases = connect ? #""dns": 1.5, "connect": \#(connecting), "ssl": 2"# : #""dns": -1, "connect": -1, "ssl": -1"#
        let page = Bool.random(using: &generator) ? #""pageref": "page_\#(index)", "comment": "c\#(index)","# : ""
        let comment = Bool.random(using: &generator) ? #", "comment": "d\#(index)""# : ""
        let total = 3.75 + (connect ? 5.75 : 0) + ([0, 2.5].randomElement(using: &generator) ?? 0)
        let (said, type) = (
            [size, size + 3].randomElement(using: &generator) ?? 0,
            ["text/plain; charset=utf-8", "text/plain"].randomElement(using: &generator) ?? ""
        )
        return """
            {\(page) "startedDateTime": "2024-05-06T\(hour)", "time": \(total),
             "request": {"method": "\(method)", "url": "https://a.test/p\(index)?a=\(second)&b=%20", "httpVersion": "\(version)", "cookies": [],
              "headers": [{"name": "Accept", "value": "*/*"}\(post.type)], "queryString": [{"name": "a", "value": "\(second)"}, {"name": "b", "value": " "}],
              \(post.data) "headersSize": \(Int.random(in: -1...200, using: &generator)), "bodySize": \(post.size)\(comment)},
             "response": {"status": \(status), "statusText": "R\(status)", "httpVersion": "\(version)", "cookies": [],
              "headers": [{"name": "Content-Type", "value": "text/plain; charset=utf-8"}\(coding), {"name": "X", "value": "\(index)"}],
              "content": {"size": \(said), "mimeType": "\(type)", "text": \(self.json(body))\(compression)\(comment)},
              "redirectURL": "\(["", "/next"].randomElement(using: &generator) ?? "")", "headersSize": \(Int.random(in: -1...200, using: &generator)), "bodySize": \(Int.random(in: -1...200, using: &generator))\(comment)},
             "cache": {}, "timings": {"blocked": -1, \(phases), "send": 0.25, "wait": 2.5, "receive": 1\(comment)},
             "serverIPAddress": "10.0.0.\(index + 1)", "connection": "\(["\(index + 1)", "ClientPort:5"].randomElement(using: &generator) ?? "1")"}
            """
    }

    /// Some tools write this for a request without a body.
    private static func empty(_ generator: inout SeededGenerator) -> String {
        Bool.random(using: &generator) ? #""postData": {"mimeType": "", "text": "", "params": []},"# : ""
    }

    private static func post(_ generator: inout SeededGenerator) -> (type: String, data: String, size: Int) {
        let isForm = Bool.random(using: &generator)
        let type = isForm ? "application/x-www-form-urlencoded" : "application/json"
        let text = isForm ? "a=1&b=x+y" : #"{"a": [1, "\#(Int.random(in: 0...9, using: &generator))"]}"#
        let params = isForm ? #", "params": [{"name": "a", "value": "1"}, {"name": "b", "value": "x y"}]"# : ""
        return (
            #", {"name": "Content-Type", "value": "\#(type)"}"#,
            #""postData": {"mimeType": "\#(type)", "text": \#(self.json(text))\#(params), "comment": "e"},"#,
            text.utf8.count
        )
    }

    private static func text(_ generator: inout SeededGenerator) -> String {
        let words = ["pet", "보리", "\n", "{\"a\":1}", "\u{1F431}", " ", "\\", "\"", "ü"]
        return (0..<Int.random(in: 1...12, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "" }.joined()
    }

    private static func json(_ text: String) -> String {
        var writer = JSONWriter()
        writer.string(text)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
