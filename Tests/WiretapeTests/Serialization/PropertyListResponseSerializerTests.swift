import Foundation
import Testing
import Wiretape

@Suite struct PropertyListResponseSerializerTests {
    private func value(_ data: Data?, status: Int = 200) throws -> PropertyListValue {
        try (.propertyList as PropertyListResponseSerializer)
            .serialize(request: nil, response: SampleResponse.response(status), data: data, error: nil)
    }

    @Test func aListIsAValue() throws {
        let data = try PropertyListSerialization.data(fromPropertyList: ["a": [1, true]], format: .binary, options: 0)
        #expect(try self.value(data)["a"] == .array([.integer(1), .bool(true)]))
        #expect(try self.value(nil, status: 204) == .dictionary([:]))
    }

    @Test(arguments: ["<plist>", "bplist00", "word", "{ a = b; }", "\u{1}\u{2}"]) func whatIsNoneIsRefused(text: String) {
        #expect { try self.value(Data(text.utf8)) } throws: { ($0 as? SerializationError)?.code == .invalidPropertyList }
    }
}
