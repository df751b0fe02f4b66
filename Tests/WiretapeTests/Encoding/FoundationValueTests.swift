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
    @Test func numbersAndBoolsAreDistinguished() throws {
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
