import Foundation
import Testing
import Wiretape

@Suite struct StringResponseSerializerTests {
    private func text(_ bytes: [UInt8], type: String?, _ serializer: StringResponseSerializer = .string) throws -> String {
        let response = try SampleResponse.response(200, type.map { ["Content-Type": $0] } ?? [:])
        return try serializer.serialize(request: nil, response: response, data: Data(bytes), error: nil)
    }

    @Test func theCharsetOfTheResponseCounts() throws {
        #expect(try self.text([0xC7, 0xD1, 0xB1, 0xDB], type: "text/plain; charset=EUC-KR") == "한글")
        #expect(try self.text(Array("한글".utf8), type: "text/plain") == "한글")
        #expect(try self.text([0xE9], type: nil) == "é")
    }

    @Test func anEncodingOfOnesOwnComesFirst() throws {
        #expect(try self.text([0xE9], type: "text/plain; charset=utf-8", .string(encoding: .isoLatin1)) == "é")
        #expect { try self.text([0xE9], type: nil, .string(encoding: .utf8)) } throws: { ($0 as? SerializationError)?.code == .invalidText }
    }

    @Test func nothingIsAnEmptyText() throws {
        let noContent = try SampleResponse.response(204)
        #expect(try StringResponseSerializer().serialize(request: nil, response: noContent, data: nil, error: nil) == "")
    }
}
