@testable import CassetteModel
@testable import CassetteStore
import Foundation
import TapeTestSupport
import Testing

@Suite struct CassetteScannerTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    private func open(_ text: String) throws -> CassetteReader { try self.open(Array(text.utf8)) }

    private func open(_ bytes: [UInt8]) throws -> CassetteReader {
        try CassetteReader(path: self.folder.write(bytes, to: "pets.json"))
    }

    private func error(_ bytes: [UInt8]) -> CassetteError? { cassetteError { _ = try self.open(bytes) } }

    private func error(_ text: String) -> CassetteError? { self.error(Array(text.utf8)) }

    @Test func findsInteractionsInOurLayout() throws {
        let reader = try self.open(SampleCassette.document([1, 2, 3]))
        #expect(reader.damage == nil)
        #expect(try allInteractions(reader) == sampleTexts(1...3))
        #expect(try reader.head() == SampleCassette.head)
        #expect(try reader.tail() == Array("]\n}".utf8))
        #expect(try reader.line(at: 0) == 5)
    }

    @Test func findsNothingInAnEmptyRecording() throws {
        let reader = try self.open(SampleCassette.document([]))
        #expect(reader.count == 0)
        #expect(reader.damage == nil)
    }

    @Test(arguments: [
        #"{"wiretape":1,"interactions":[{"id":1,"a":"]}"},{"id":2}]}"#,
        "{\r\n\t\"wiretape\" : 1 ,\r\n\t\"interactions\" : [ {\"id\":1,\"a\":\"]}\"} , {\"id\":2} ] }\r\n\r\n",
        #"{"other":{"interactions":[{"x":1}]},"wiretape":1,"s":"a\"\\","n":-1.5e+3,"t":null,"interactions":[{"id":1,"a":"]}"},{"id":2}],"after":[[],{}]}"#,
        #"{"interactions":[{"id":1,"a":"]}"},{"id":2}],"recorder":"jq -S","wiretape":1}"#,
    ])
    func takesAnyLayout(_ text: String) throws {
        let reader = try self.open(text)
        #expect(reader.damage == nil)
        #expect(try allInteractions(reader) == [#"{"id":1,"a":"]}"}"#, #"{"id":2}"#])
    }

    @Test func zeroFilledFilesAreTornWithNothingInThem() throws {
        for bytes in [[UInt8](repeating: 0, count: 1), [UInt8](repeating: 0, count: 5000)] {
            let reader = try self.open(bytes)
            #expect(reader.count == 0)
            #expect(reader.damage?.stretches.count == 1)
        }
    }

    @Test func anEmptyFileIsNoCassette() {
        let error = self.error("")
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("is an empty file, not a cassette: record it") == true)
    }

    @Test(arguments: [
        "hello", "[]", "{}", "null", "\u{89}PNG\r\n", #"{"interactions":[]}"#, #"{"wiretape":1}"#, #"{"wiretape":"1","interactions":[]}"#,
        #"{"wiretape":0,"interactions":[]}"#, "{\"wiretape\": 1.5", "{\"log\": {", "  ", "{\"wiretape\": 1, \"interactions\": {} }",
        "\0\0\0x",
    ])
    func textThatIsNoCassetteIsDamage(_ text: String) {
        #expect(self.error(text)?.code == .damaged)
    }

    @Test func aNewerVersionIsRefusedNamingBoth() {
        let error = self.error(#"{"wiretape": 7, "new": {}, "interactions": []}"#)
        #expect(error?.code == .unsupportedVersion)
        #expect(error?.message.contains("version 7") == true && error?.message.contains("version 2") == true)
        #expect(self.error(#"{"wiretape": 3, "interactions": []}"#)?.code == .unsupportedVersion)
        #expect(self.error("{\"wiretape\": \(String(repeating: "9", count: 500)), ")?.code == .damaged)
    }

    @Test func aFileTruncatedAtAnyByteGivesItsIntactExchanges() throws {
        let whole = SampleCassette.document([1, 2, 3])
        let ends = [1, 2, 3].map { SampleCassette.document(Array(1...$0)).count - CassetteLayout.closing.count }
        for cut in 1..<whole.count {
            let reader = try self.open(Array(whole[..<cut]))
            let intact = ends.count { $0 <= cut }
            #expect(try allInteractions(reader) == sampleTexts(1..<(intact + 1)), "cut at \(cut)")
            // Losing only the last line end is no damage.
            #expect((reader.damage == nil) == (cut == whole.count - 1), "cut at \(cut)")
            if let damage = reader.damage { #expect(damage.interactions == 0 || damage.interactions == 1) }
        }
    }

    @Test func zerosAfterAnyCutAreLeftOut() throws {
        var generator = SeededGenerator(seed: 1)
        let whole = SampleCassette.document(Array(1...4))
        let ends = (1...4).map { SampleCassette.document(Array(1...$0)).count - CassetteLayout.closing.count }
        for _ in 0..<300 {
            let cut = Int.random(in: SampleCassette.head.count...whole.count, using: &generator)
            let zeros = Int.random(in: 1...600, using: &generator)
            let reader = try self.open(whole[..<cut] + [UInt8](repeating: 0, count: zeros))
            #expect(try allInteractions(reader) == sampleTexts(1..<(ends.count { $0 <= cut } + 1)), "cut at \(cut)")
            #expect(reader.damage != nil)
        }
    }

    @Test func junkAfterAnyCutIsLeftOut() throws {
        var generator = SeededGenerator(seed: 2)
        let whole = SampleCassette.document(Array(1...4))
        let ends = (1...4).map { SampleCassette.document(Array(1...$0)).count - CassetteLayout.closing.count }
        for _ in 0..<300 {
            let cut = Int.random(in: SampleCassette.head.count...whole.count, using: &generator)
            let junk = (0..<Int.random(in: 40...300, using: &generator)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let reader = try self.open(whole[..<cut] + junk)
            #expect(try allInteractions(reader) == sampleTexts(1..<(ends.count { $0 <= cut } + 1)), "cut at \(cut)")
            #expect(reader.damage != nil)
        }
    }

    @Test func aZeroedSectorInTheMiddleLosesOnlyItsOwnExchanges() throws {
        var whole = SampleCassette.document(Array(1...20))
        for index in 2048..<2560 { whole[index] = 0 }
        let reader = try self.open(whole)
        let lost = Set(sampleTexts(1...20)).subtracting(try allInteractions(reader))
        #expect((1...3).contains(lost.count))
        #expect(reader.count == 20 - lost.count)
        #expect(reader.damage?.interactions == nil)
        #expect(reader.damage?.stretches.count == 1)
    }

    @Test(arguments: [
        ("\"method\": \"GET\"", "\"method\": \"GET"), ("\"request\": {", "\"request\": "), ("\n    },\n", "\n    \n"),
        ("\n    },\n", "\n    }\n"),
        ("\n    },\n", "\n    },,\n"), ("\n    },\n", "\n<<<<<<< HEAD\n    },\n"), ("null]", "null"), ("2.5e-3", "'x'"),
        ("\"interactions\": [", "\"interactions\": "),
        ("\n  ]\n}\n", ",\n  ]\n}\n"), ("\n  ]\n}\n", "\n}\n"), ("\n  ]\n}\n", "\n  ]]\n}\n"),
    ])
    func aWrongEditIsNamedByItsLine(_ edit: (String, String)) throws {
        let text = String(decoding: SampleCassette.document([1, 2, 3]), as: UTF8.self)
        let place = try #require(text.range(of: edit.0))
        let error = self.error(text.replacingCharacters(in: place, with: edit.1))
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("pets.json:") == true)
    }

    @Test func textAfterTheEndIsLeftOutUnlessItHoldsExchanges() throws {
        let whole = SampleCassette.document([1, 2])
        for junk in ["more\n", "}}", "{\"wiretape\": 1", "]"] {
            let reader = try self.open(whole + Array(junk.utf8))
            #expect(reader.count == 2)
            #expect(reader.damage?.interactions == 0)
        }
        #expect(self.error(whole + SampleCassette.document([3]))?.code == .damaged)
    }

    @Test func theLineOfAWrongEditIsTheLineInTheFile() throws {
        let text = String(decoding: SampleCassette.document([1, 2]), as: UTF8.self)
        let place = try #require(text.range(of: "\"GET\""))
        let line = text[..<place.lowerBound].count { $0 == "\n" } + 1
        let error = self.error(text.replacingCharacters(in: place, with: "\"GET\" = 1"))
        #expect(error?.message.contains("pets.json:\(line): \"=\" is not expected here") == true)
    }

    @Test func deepNestingIsRefusedWithoutATrap() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(
            self.error("{\"wiretape\":1,\"interactions\":[{\"a\":\(deep)\(String(repeating: "]", count: 100_000))}]}")?.code == .damaged)
        #expect(self.error("{\"wiretape\":1,\"x\":\(deep)\(String(repeating: "]", count: 100_000)),\"interactions\":[]}")?.code == .damaged)
    }

    @Test func noChangeOfBytesMakesTheScannerTrap() throws {
        var generator = SeededGenerator(seed: 3)
        let whole = SampleCassette.document([1, 2, 3])
        for _ in 0..<rounds(1500) {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0...3, using: &generator) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(Array("\"{}[],:\\\n".utf8).randomElement(using: &generator) ?? 0, at: place)
                default: bytes.removeSubrange(place..<min(bytes.count, place + 40))
                }
            }
            guard let reader = try? self.open(bytes) else { continue }
            for index in 0..<reader.count { #expect(try reader.bytes(at: index).first == UInt8(ascii: "{")) }
        }
    }
}

@Suite struct TextCheckTests {
    private func firstBad(_ bytes: [UInt8], piece: Int) -> Int? {
        var check = TextCheck()
        for start in stride(from: 0, to: bytes.count, by: piece) {
            let end = min(start + piece, bytes.count)
            if let bad = bytes.withUnsafeBytes({ check.firstBad(in: UnsafeRawBufferPointer(rebasing: $0[start..<end])) }) {
                return start + bad
            }
        }
        return check.isInsideCharacter ? bytes.count : nil
    }

    @Test func acceptsTheSameAsTheStandardLibrary() {
        var generator = SeededGenerator(seed: 5)
        for _ in 0..<rounds(5000) {
            var bytes = Array("plain ascii and more, é 이름 🐈 \t\r\n end".utf8)
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let isText = String(validating: bytes, as: UTF8.self) != nil && !bytes.contains { $0 < 0x20 && ![9, 10, 13].contains($0) }
            for piece in [1, 5, 100] { #expect((self.firstBad(bytes, piece: piece) == nil) == isText) }
        }
    }

    @Test func namesThePlace() {
        for place in 0..<40 {
            var bytes = [UInt8](repeating: 0x61, count: 40)
            bytes[place] = 0
            for piece in [1, 8, 40] { #expect(self.firstBad(bytes, piece: piece) == place) }
        }
    }
}

/// A file that is scanned on several threads.
@Suite struct CassettePortionsTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    private func cassette(_ generator: inout SeededGenerator) -> [UInt8] {
        let elements = (1...60).map { id in
            let text = String(repeating: "\\u0041\\\"x", count: Int.random(in: 0..<300, using: &generator))
            return """
                \n    {
                      "id": \(id),
                      "started": "2026-01-01T00:00:00.\(100_000 + id)Z",
                      "request": {
                        "method": "GET",
                        "url": "http://a.test/\(id)"
                      },
                      "note": "\(text)"
                    }
                """
        }
        return Array(("{\n  \"wiretape\": 2,\n  \"interactions\": [" + elements.joined(separator: ",") + "\n  ]\n}\n").utf8)
    }

    /// The result, or the error.
    private func found(_ path: String, portions: Int) -> String {
        do {
            let result = try CassetteScanner.summarize(SharedFile(OpenFile(path, for: .read)), portions: portions)
            let index = result.index
            let urls = (0..<result.summaries.count).map { position in
                result.summaries.withRequest(at: position) { _, url in String(decoding: url, as: UTF8.self) }
            }
            return "\(index.interactions) \(urls) \(index.damage) \([index.headEnd, index.arrayEnd, index.documentEnd, index.oldVersion])"
        } catch {
            return "\(error)"
        }
    }

    @Test func theNumberOfPortionsChangesNothing() throws {
        var generator = SeededGenerator(seed: 31)
        let whole = self.cassette(&generator)
        let path = try self.folder.write(whole, to: "tape.json")
        let one = self.found(path, portions: 1)
        #expect(one.contains("http://a.test/1\", ") && one.contains("http://a.test/60\"]"))
        for portions in [2, 3, 8, 59, 500] { #expect(self.found(path, portions: portions) == one, "\(portions)") }
    }

    @Test(arguments: [#","interactions":[{"id":9}]"#, #","wiretape":1"#, #","wiretape":9"#, #","x":{"interactions":[]}"#])
    func membersAfterTheExchangesAreReadAsWithOnePortion(_ members: String) throws {
        var generator = SeededGenerator(seed: 33)
        let text = String(decoding: self.cassette(&generator), as: UTF8.self)
        let path = try self.folder.write(Array((text.dropLast("\n}\n".utf8.count) + members + "\n}\n").utf8), to: "tape.json")
        let one = self.found(path, portions: 1)
        for portions in [2, 5] { #expect(self.found(path, portions: portions) == one, "\(portions)") }
    }

    /// Truncated and invalid files of all kinds, and texts that look like the beginning of an exchange.
    @Test func damageIsReportedAsWithOnePortion() throws {
        var generator = SeededGenerator(seed: 32)
        for round in 0..<150 {
            var bytes = self.cassette(&generator)
            let at = Int.random(in: 0..<bytes.count, using: &generator)
            switch round % 5 {
            case 0: bytes.removeSubrange(at...)
            case 1: bytes[at] = 0
            case 2: bytes.insert(contentsOf: "\n    {\n      \"id\"".utf8, at: at)
            case 3: bytes.removeSubrange(at..<min(bytes.count, at + 700))
            default: bytes[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            let path = try self.folder.write(bytes, to: "tape.json")
            let one = self.found(path, portions: 1)
            for portions in [2, 5] { #expect(self.found(path, portions: portions) == one, "round \(round), \(portions)") }
        }
    }
}
