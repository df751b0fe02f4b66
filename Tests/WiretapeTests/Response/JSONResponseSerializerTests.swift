import Foundation
import TapeBytes
import Testing
import Wiretape

@Suite struct JSONResponseSerializerTests {
    private func value(_ text: String) throws -> JSONValue {
        try (.json as HTTPSession.JSONResponseSerializer).serialize(request: nil, response: nil, data: Data(text.utf8), error: nil)
    }

    @Test func theValueIsAsItWasWritten() throws {
        let value = try self.value("{\"a\": 1.50, \"b\": [true]}")
        #expect(value["a"].map { String(decoding: $0.raw, as: UTF8.self) } == "1.50")
        #expect(value["b"]?.elements.map(\.bool) == [true])
        #expect(try self.value("\u{FEFF}3").int == 3)
    }

    @Test func invalidJSONIsReportedWithItsLine() {
        #expect { try self.value("{\n\"a\": tru}") } throws: {
            ($0 as? SerializationError)?.code == .invalidJSON && "\($0)".contains("line 2")
        }
    }

    @Test func nothingIsNull() throws {
        let noContent = try SampleResponse.response(204)
        #expect(try HTTPSession.JSONResponseSerializer().serialize(request: nil, response: noContent, data: nil, error: nil).kind == .null)
    }
}

@Suite struct JSONValueFoundationTests {
    private func object(_ text: String) throws -> Any { try JSONDocument(Array(text.utf8)).root.foundationObject }

    @Test func kindsHaveTheirTypes() throws {
        let object = try #require(try self.object(#"{"a":1,"b":true,"c":1.5,"d":null,"e":"한","f":[0,{}],"a":2}"#) as? [String: Any])
        #expect(object["a"] as? Int == 2 && object["a"] as? Bool == nil)
        #expect(object["b"] as? Bool == true && object["c"] as? Double == 1.5 && object["d"] is NSNull && object["e"] as? String == "한")
        #expect((object["f"] as? [Any])?.count == 2)
    }

    @Test func largeNumbersAreNotRounded() throws {
        #expect(try self.object("12345678901234567890123") as? Decimal == Decimal(string: "12345678901234567890123"))
        #expect(try self.object("1e400") is NSNull && self.object("-0.5") as? Double == -0.5)
        #expect(try self.object("1e3") as? Double == 1000)
    }

    @Test func halvesOfSurrogatePairsAreText() throws {
        let object = try #require(try self.object(#"{"a\ud800":"b\udc00"}"#) as? [String: Any])
        #expect(object.count == 1 && object.values.first is String)
    }

    /// `JSONSerialization` is the reference.
    @Test(arguments: ["[]", "{}", "[1,-2,3.25,1e2,\"\\u00e9\\n\",true,false,null]", "{\"a\":{\"b\":[{}]}}", "\"x\"", "0"])
    func theSameAsFoundations(text: String) throws {
        let theirs = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        func written(_ object: Any) throws -> Data { try JSONSerialization.data(withJSONObject: [object], options: .sortedKeys) }
        #expect(try written(self.object(text)) == written(theirs))
    }
}
