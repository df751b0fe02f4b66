import CassetteModel
import TapeTestSupport
import Testing
@testable import CassetteImport

@Suite struct JSONStreamTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func stream(_ text: String, countLimit: Int = SourceValue.countLimit) throws -> JSONStream {
        let path = try self.folder.write(text.utf8, to: "x.json")
        let context = ImportContext(file: path, losses: ImportLosses(), options: ImportOptions())
        return try JSONStream(SourceFile(path), context, countLimit: countLimit)
    }

    @Test func valuesComeOneByOneWithTheirLines() throws {
        let stream = try self.stream("\u{FEFF}{\n\"a\": [1, \"]}\\\"\",\n{\"b\": null}],\"c\":true }\n")
        #expect(try stream.enterMembers())
        #expect(try stream.nextName() == "a")
        #expect(try stream.enterList())
        #expect(try stream.nextElement())
        #expect(try stream.value().int == 1)
        #expect(try stream.nextElement())
        #expect(try stream.value().string == "]}\"")
        #expect(try stream.nextElement())
        let last = try stream.value()
        #expect(last.line == 3 && last.members?.first?.name == "b" && last["b"] == nil)
        #expect(try !stream.nextElement())
        #expect(try stream.nextName() == "c")
        #expect(try stream.value().bool == true)
        #expect(try stream.nextName() == nil)
        try stream.end()
    }

    /// A scanner finds the same end of a value in pieces of any size.
    @Test func theEndOfAValueIsFoundInPiecesOfAnySize() {
        let text = Array(#"{"a\\\"}": ["\u0041", {}, [], -1.5e3]}, next"#.utf8)
        for size in 1...text.count {
            var scanner = JSONValueScanner()
            var count = 0
            var isFound = false
            while !isFound, count < text.count {
                let piece = Array(text[count..<min(count + size, text.count)])
                let found = piece.withUnsafeBytes { scanner.scan($0) }
                isFound = found.isFound
                count += found.count
            }
            #expect(isFound && count == text.count - 6, "\(size)")
        }
    }

    @Test func halfACharacterIsReplaced() throws {
        let value = try self.stream(#""a\ud83db\ud83d\ude00\n""#).value()
        #expect(value.string == "a\u{FFFD}b\u{1F600}\n")
    }

    @Test func deepNestingIsRefused() throws {
        let text = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: CassetteError.self) { try self.stream(text).value() }
    }

    @Test func moreValuesThanMemoryHasRoomForAreRefused() throws {
        let zeros = String(repeating: "0,", count: 999)
        #expect(try self.stream("[\(zeros.dropLast())]", countLimit: 1000).value().list?.count == 999)
        let failure = #expect(throws: CassetteError.self) { try self.stream("[\(zeros)0]", countLimit: 1000).value() }
        #expect(failure?.code == .tooLarge)
    }
}
