import Foundation
import Testing
@testable import Wiretape

@Suite struct StringResponseSerializerTests {
    private func text(_ bytes: [UInt8], type: String?, _ serializer: HTTPSession.StringResponseSerializer = .string) throws -> String {
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
        #expect(try HTTPSession.StringResponseSerializer().serialize(request: nil, response: noContent, data: nil, error: nil) == "")
    }
}

@Suite struct BodyTextTests {
    @Test(
        arguments: [
            ([0xEF, 0xBB, 0xBF, 0x61], "text/plain; charset=euc-kr", "a"), ([0xFF, 0xFE, 0x61, 0], nil, "a"),
            ([0xFE, 0xFF, 0, 0x61], nil, "a"),
            ([0xEA, 0xB0, 0x80], nil, "가"), ([0xB0, 0xA1], "a/b; Charset=\"EUC-KR\"", "가"), ([0xE9, 0x80], "text/plain", "é\u{80}"),
            ([0x80], "text/plain; charset=windows-1252", "€"), ([0x61], "text/plain; charset=", "a"),
            ([0x61], "text/plain; charset=US-ASCII", "a"),
            ([0x82, 0xA0], "text/plain;charset=shift_jis", "あ"), ([0xE9], "text/plain; charset=latin1", "é"),
            ([], "text/plain; charset=utf-8", ""),
        ] as [([UInt8], String?, String)]) func textsOfManyCharsets(bytes: [UInt8], type: String?, expected: String) throws
    {
        #expect(try BodyText(Data(bytes), contentType: type).text == expected)
    }

    @Test(
        arguments: [
            ([0xFF], "text/plain; charset=utf-8", SerializationError.Code.invalidText),
            ([0xFF], "text/plain; charset=euc-kr", .invalidText),
            ([0x61], "text/plain; charset=klingon", .unknownCharset), ([0xEF, 0xBB, 0xBF, 0xFF], "text/plain", .invalidText),
        ] as [([UInt8], String, SerializationError.Code)]) func bytesThatAreNoText(
            bytes: [UInt8], type: String, code: SerializationError.Code
        )
    {
        #expect { try BodyText(Data(bytes), contentType: type) } throws: { ($0 as? SerializationError)?.code == code }
    }

    @Test func aSliceOfDataIsRead() throws {
        #expect(try BodyText(Data([1, 0x61, 0x62]).dropFirst(), contentType: nil).text == "ab")
    }
}
