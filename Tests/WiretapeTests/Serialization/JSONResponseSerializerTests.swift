import Foundation
import TapeBytes
import Testing
import Wiretape

@Suite struct JSONResponseSerializerTests {
    private func value(_ text: String) throws -> JSONValue {
        try (.json as JSONResponseSerializer).serialize(request: nil, response: nil, data: Data(text.utf8), error: nil)
    }

    @Test func theValueIsAsItWasWritten() throws {
        let value = try self.value("{\"a\": 1.50, \"b\": [true]}")
        #expect(value["a"].map { String(decoding: $0.raw, as: UTF8.self) } == "1.50")
        #expect(value["b"]?.elements.map(\.bool) == [true])
        #expect(try self.value("\u{FEFF}3").int == 3)
    }

    @Test func whatIsNoJSONSaysWhere() {
        #expect { try self.value("{\n\"a\": tru}") } throws: {
            ($0 as? SerializationError)?.code == .invalidJSON && "\($0)".contains("line 2")
        }
    }

    @Test func nothingIsNull() throws {
        let noContent = try SampleResponse.response(204)
        #expect(try JSONResponseSerializer().serialize(request: nil, response: noContent, data: nil, error: nil).kind == .null)
    }
}
