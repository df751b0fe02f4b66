import Foundation
import Testing
import Wiretape
@testable import WiretapeAlamofire

@Suite struct SerializableValueTests {
    private struct Pet: Encodable { let name = "n", born = Date(timeIntervalSinceReferenceDate: 1) }

    private func json(_ value: Any) throws -> String {
        let object = try SerializableValue(format: .json).object(value)
        return String(
            decoding: try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes]),
            as: UTF8.self)
    }

    @Test func valuesThatJSONSerializationRejectsAreConverted() throws {
        let nothing: Int? = nil
        #expect(try self.json(["a": nothing as Any, "b": true, "c": 1, "d": UInt8(2)]) == #"{"a":null,"b":true,"c":1,"d":2}"#)
        #expect(try self.json(["u": URL(string: "http://a/b") as Any]) == #"{"u":"http://a/b"}"#)
        #expect(try self.json([Pet()]) == #"[{"born":1,"name":"n"}]"#)
        #expect(try self.json("x") == "\"x\"")
    }

    @Test func theErrorNamesThePlace() {
        #expect { try self.json(["a": [1, Double.infinity]]) } throws: {
            "\($0)".hasPrefix("\"a[1]\" is inf, ") && ($0 as? ParameterEncodingError)?.code == .unsupportedValue
        }
        #expect { try SerializableValue(format: .propertyList).object(["a": NSNull()]) } throws: {
            "\($0)" == "\"a\" is nil, which a property list cannot express: leave it out"
        }
        #expect { try self.json(NSObject()) } throws: { "\($0)".hasPrefix("the value has the unsupported type \"NSObject\"") }
    }

    @Test func propertyListsKeepDatesAndData() throws {
        let object = try SerializableValue(format: .propertyList).object(["d": Date(timeIntervalSince1970: 0), "o": Data([1]), "p": Pet()])
        let data = try PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0)
        let text = String(decoding: data, as: UTF8.self)
        #expect(
            text.contains("<date>1970-01-01T00:00:00Z</date>") && text.contains("AQ==")
                && text.contains("<date>2001-01-01T00:00:01Z</date>"))
    }

    @Test func valuesWithoutEndAreRefused() {
        var value: Any = 1
        for _ in 0..<200 { value = ["a": value] }
        #expect { try self.json(value) } throws: { ($0 as? ParameterEncodingError)?.code == .tooDeep }
    }
}
