import Testing

@testable import CassetteFormat
@testable import CassetteModel
@testable import TapeBytes

@Suite struct HeadBytesTests {
    private func written(_ bytes: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        bytes.withUnsafeBytes { HeadBytes.write($0, &writer) }
        return writer.bytes
    }

    private func read(_ json: [UInt8], line: Bool = false) throws -> [UInt8] {
        let value = try JSONDocument(Array("{\"a\":".utf8) + json + Array("}".utf8)).root
        let reader = try ObjectReader(value, "", InteractionPlace(), known: ["a"])
        let member = try reader.required("a")
        return try line ? HeadBytes.decodeLine(member, "a", reader) : HeadBytes.decode(member, "a", reader)
    }

    @Test func anyBytesComeBack() throws {
        for bytes in [[], Array("음식\r\n\0".utf8), Array(0...255), [0xFF]] { #expect(try self.read(self.written(bytes)) == bytes) }
        #expect(self.written([0xE9]) == Array("{ \"latin1\": \"é\" }".utf8))
    }

    @Test func aLineHasNoLineEnds() {
        for text in [#""a\n""#, #""a\r""#, #""\u0000""#, #"{ "latin1": "\n" }"#, #"{ "latin1": "음" }"#, "1", #"{ "latin2": "" }"#] {
            #expect(throws: CassetteError.self) { try self.read(Array(text.utf8), line: true) }
        }
    }
}
