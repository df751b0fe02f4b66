import Foundation
import Testing

@testable import Wiretape

@Suite struct PropertyListValueTests {
    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func everyTypeComesBack(format: PropertyListSerialization.PropertyListFormat) throws {
        let value = PropertyListValue.dictionary([
            "s": .string("한"), "i": .integer(-1), "r": .real(1.5), "b": .bool(true), "d": .date(Date(timeIntervalSince1970: 60)),
            "o": .data(Data([1])), "a": .array([.integer(1), .bool(false)]),
        ])
        let data = try PropertyListSerialization.data(fromPropertyList: value.foundationObject, format: format, options: 0)
        let read = PropertyListValue(try PropertyListSerialization.propertyList(from: data, format: nil))
        #expect(read == value)
        #expect(read?["i"] == .integer(-1) && read?["no"] == nil && read?["a"]?["x"] == nil)
    }

    @Test func whatNoPropertyListHoldsIsNone() {
        #expect(PropertyListValue(NSNull()) == nil)
        #expect(PropertyListValue(["a": NSObject()]) == nil)
        #expect(PropertyListValue([1, NSObject()] as [Any]) == nil)
    }
}
