import Foundation
import Testing

@testable import Wiretape

@Suite struct FormValueEncoderTests {
    private func text(_ value: some Encodable) throws -> String { try URLEncodedFormEncoder().encode(["v": value]) }

    @Test func everyNumberIsWrittenInFull() throws {
        #expect(try self.text(Int8.min) == "v=-128")
        #expect(try self.text(UInt64.max) == "v=18446744073709551615")
        #expect(try self.text(Float(1.1)) == "v=1.1")
        #expect(try self.text(0.1) == "v=0.1")
        #expect(try self.text(1.0) == "v=1.0")
        #expect(try self.text(Decimal(string: "12345678901234567890.5")) == "v=12345678901234567890.5")
        if #available(macOS 15, iOS 18, *) { #expect(try self.text(Int128.max) == "v=170141183460469231731687303715884105727") }
    }

    @Test func foundationsValuesAreTexts() throws {
        #expect(try self.text(URL(string: "http://a/b")) == "v=http%3A//a/b")
        #expect(try self.text(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")) == "v=E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
    }

    private enum Kind: String, Encodable { case dog }
    private struct Wrapped: Encodable {
        let value: Int

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self.value)
        }
    }

    @Test func valuesThatEncodeThemselvesAsOne() throws {
        #expect(try self.text(Kind.dog) == "v=dog")
        #expect(try self.text(Wrapped(value: 3)) == "v=3")
        #expect(try self.text([Kind.dog]) == "v%5B%5D=dog")
    }

    private class Animal: Encodable {
        let name = "n"
    }

    private final class Dog: Animal {
        enum CodingKeys: CodingKey { case bark }

        override func encode(to encoder: any Encoder) throws {
            try super.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode("wuff", forKey: .bark)
        }
    }

    @Test func aSuperclassWritesIntoTheSameObject() throws {
        #expect(try self.text(Dog()) == "v%5Bbark%5D=wuff&v%5Bname%5D=n")
    }

    private final class Endless: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            try container.encode(self)
        }
    }

    @Test func valuesWithoutEndAreRefused() {
        #expect { try self.text(Endless()) } throws: {
            guard let error = $0 as? ParameterEncodingError else { return false }
            return error.code == .tooDeep && error.message.hasPrefix("\"v[0][0]")
        }
    }
}
