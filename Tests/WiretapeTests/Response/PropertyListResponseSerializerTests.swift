import Foundation
import Testing
@testable import Wiretape

@Suite struct PropertyListResponseSerializerTests {
    private func value(_ data: Data?, status: Int = 200) throws -> HTTPSession.PropertyListValue {
        try (.propertyList as HTTPSession.PropertyListResponseSerializer)
            .serialize(request: nil, response: SampleResponse.response(status), data: data, error: nil)
    }

    @Test func aListIsAValue() throws {
        let data = try PropertyListSerialization.data(fromPropertyList: ["a": [1, true]], format: .binary, options: 0)
        #expect(try self.value(data)["a"] == .array([.integer(1), .bool(true)]))
        #expect(try self.value(nil, status: 204) == .dictionary([:]))
    }

    @Test(arguments: ["<plist>", "bplist00", "word", "{ a = b; }", "\u{1}\u{2}"]) func invalidPropertyListIsRefused(text: String) {
        #expect { try self.value(Data(text.utf8)) } throws: { ($0 as? SerializationError)?.code == .invalidPropertyList }
    }
}

@Suite struct PropertyListValueTests {
    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func everyTypeComesBack(format: PropertyListSerialization.PropertyListFormat) throws {
        let value = HTTPSession.PropertyListValue.dictionary([
            "s": .string("한"), "i": .integer(-1), "r": .real(1.5), "b": .bool(true), "d": .date(Date(timeIntervalSince1970: 60)),
            "o": .data(Data([1])), "a": .array([.integer(1), .bool(false)]),
        ])
        let data = try PropertyListSerialization.data(fromPropertyList: value.foundationObject, format: format, options: 0)
        let read = HTTPSession.PropertyListValue(try PropertyListSerialization.propertyList(from: data, format: nil))
        #expect(read == value)
        #expect(read?["i"] == .integer(-1) && read?["no"] == nil && read?["a"]?["x"] == nil)
    }

    @Test func valueThatNoPropertyListHoldsIsNil() {
        #expect(HTTPSession.PropertyListValue(NSNull()) == nil)
        #expect(HTTPSession.PropertyListValue(["a": NSObject()]) == nil)
        #expect(HTTPSession.PropertyListValue([1, NSObject()] as [Any]) == nil)
    }
}
