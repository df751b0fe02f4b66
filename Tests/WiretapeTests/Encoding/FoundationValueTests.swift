import Foundation
import Testing
@testable import Wiretape

@Suite struct FoundationValueTests {
    private func kind(_ value: Any) -> String {
        switch FoundationValue(value) {
        case .null: "null"
        case .bool(let bool): "bool \(bool)"
        case .text(let text): "text \(text)"
        case .number(let number): "number \(FoundationValue.text(of: number))"
        case .array(let elements): "array \(elements.count)"
        case .dictionary(let members): "dictionary \(members.count)"
        case .encodable(let value): "encodable \(type(of: value))"
        case .unknown(let type): "unknown \(type)"
        }
    }

    /// On Linux a number 1 casts to `Bool`, and a `Bool` to `NSNumber`.
    @Test func numbersAndBoolsAreToldApart() throws {
        #expect(self.kind(true) == "bool true" && self.kind(NSNumber(value: false)) == "bool false")
        #expect(self.kind(1) == "number 1" && self.kind(NSNumber(value: 1)) == "number 1" && self.kind(NSNumber(value: 0)) == "number 0")
        let parsed = try JSONSerialization.jsonObject(with: Data("[1,true,0,false,1.0,1.5]".utf8)) as? [Any]
        #expect(parsed?.map(self.kind) == ["number 1", "bool true", "number 0", "bool false", "number 1", "number 1.5"])
    }

    @Test func numbersKeepTheirDigits() {
        #expect(self.kind(UInt64.max) == "number 18446744073709551615" && self.kind(Int64.min) == "number -9223372036854775808")
        #expect(self.kind(Float(1.1)) == "number 1.1" && self.kind(0.1) == "number 0.1" && self.kind(2.0) == "number 2")
        #expect(self.kind(Decimal(string: "1.25") ?? 0) == "number 1.25" && self.kind(UInt8(7)) == "number 7")
    }

    @Test(arguments: [(1e15, "1000000000000000"), (-3.0, "-3"), (1e300, "1e+300"), (-0.5, "-0.5"), (.infinity, "inf"), (-0.0, "0")])
    func wholeDoublesHaveNoPoint(value: Double, text: String) {
        #expect(FoundationValue.text(of: NSNumber(value: value)) == text)
    }

    @Test func otherTypes() {
        let nothing: Int? = nil
        let something: Int? = 4
        let twice: Int?? = .some(nil)
        #expect(self.kind(nothing as Any) == "null" && self.kind(something as Any) == "number 4" && self.kind(twice as Any) == "null")
        #expect(self.kind(NSNull()) == "null" && self.kind("a") == "text a" && self.kind(NSString("b")) == "text b")
        #expect(self.kind([1, 2]) == "array 2" && self.kind(NSArray(array: [1])) == "array 1" && self.kind(["a": 1]) == "dictionary 1")
        #expect(
            self.kind(Date()) == "encodable Date" && self.kind(Data()) == "encodable Data"
                && self.kind([1: 2]) == "encodable Dictionary<Int, Int>")
        #expect(self.kind(NSObject()) == "unknown NSObject")
    }
}

@Suite struct SerializableValueTests {
    private struct Pet: Encodable { let name = "n", born = Date(timeIntervalSinceReferenceDate: 1) }

    private func json(_ value: Any) throws -> String {
        let object = try SerializableValue(format: .json).object(value)
        return String(
            decoding: try JSONSerialization.data(
                withJSONObject: object, options: [.sortedKeys, .fragmentsAllowed, .withoutEscapingSlashes]),
            as: UTF8.self)
    }

    @Test func whatJSONSerializationDoesNotKnowIsMadeFit() throws {
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
