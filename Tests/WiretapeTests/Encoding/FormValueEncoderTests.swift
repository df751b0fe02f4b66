import Foundation
import Testing
@testable import Wiretape

@Suite struct FormValueEncoderTests {
    private func text(_ value: some Encodable) throws -> String { try HTTPSession.URLEncodedFormEncoder().encode(["v": value]) }

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

@Suite struct FormKeyTests {
    @Test func aPathIsShownAsInAForm() {
        #expect(FormKey.text(of: [FormKey("a"), FormKey(index: 2), FormKey("b")]) == "a[2][b]")
        #expect(FormKey.text(of: []) == "")
        #expect(FormKey(intValue: 3)?.stringValue == "3" && FormKey(stringValue: "x")?.intValue == nil)
    }
}

@Suite struct FormKeyedContainerTests {
    private struct Object: Encodable {
        enum Key: CodingKey { case a, b, c, d }

        func encode(to encoder: any Encoder) throws {
            var object = encoder.container(keyedBy: Key.self)
            try object.encodeNil(forKey: .d)
            var inner = object.nestedContainer(keyedBy: Key.self, forKey: .a)
            try inner.encode(1, forKey: .b)
            var list = object.nestedUnkeyedContainer(forKey: .b)
            try list.encode(2)
            try "s".encode(to: object.superEncoder())
            try "c".encode(to: object.superEncoder(forKey: .c))
        }
    }

    @Test func everyWayToWriteAMember() throws {
        let text: String = try HTTPSession.URLEncodedFormEncoder(alphabetizeKeyValuePairs: false, nilEncoding: .null).encode(Object())
        #expect(text.removingPercentEncoding == "d=null&a[b]=1&b[]=2&super=s&c=c")
    }

    private struct Optionals: Encodable {
        var a: Bool?, b: String?, c: Double?, d: Float?, e: Int?, f: Int8?, g: Int16?, h: Int32?, i: Int64?
        var j: UInt?, k: UInt8?, l: UInt16?, m: UInt32?, n: UInt64?, o: [Int]?
    }

    @Test func nilOfEveryTypeIsSeen() throws {
        let names = "abcdefghijklmno"
        #expect(
            try HTTPSession.URLEncodedFormEncoder(nilEncoding: .dropValue).encode(Optionals())
                == names.map { "\($0)=" }.joined(separator: "&"))
        #expect(try HTTPSession.URLEncodedFormEncoder().encode(Optionals()) == "")
        let full = Optionals(a: true, b: "1", c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1, l: 1, m: 1, n: 1, o: [1])
        let text: String = try HTTPSession.URLEncodedFormEncoder(arrayEncoding: .noBrackets).encode(full)
        #expect(text == names.map { "\($0)=\("cd".contains($0) ? "1.0" : "1")" }.joined(separator: "&"))
    }
}

@Suite struct FormNodeTests {
    @Test func oneNameHasOneNode() {
        let node = FormNode()
        node.becomeObject()
        node.member("a").set(.text("1"))
        node.member("b").set(.text("2"))
        node.becomeObject()
        node.member("a").set(.text("3"))
        #expect(
            node.value
                == .object([.init(name: "a", value: .leaf(.text("3"))), .init(name: "b", value: .leaf(.text("2")))]))
    }

    @Test func unwrittenNodesAreOmitted() {
        let node = FormNode()
        #expect(node.value == nil && node.count == 0)
        node.becomeArray()
        _ = node.appendElement()
        node.appendElement().set(.text("x"))
        #expect(node.count == 2 && node.value == .array([.leaf(.text("x"))]))
    }

    @Test func anotherShapeTakesThePlaceOfTheOldOne() {
        let node = FormNode()
        node.set(.text("x"))
        node.becomeArray()
        #expect(node.value == .array([]))
        node.member("a").set(.text("lost"))
        #expect(node.value == .array([]))
        node.set(nil)
        #expect(node.value == nil)
    }
}

@Suite struct FormSingleValueContainerTests {
    private struct Twice: Encodable {
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encodeNil()
            try container.encode("last")
            #expect(container.codingPath.map(\.stringValue) == ["v"])
        }
    }

    @Test func theLastValueWrittenCounts() throws {
        #expect(try HTTPSession.URLEncodedFormEncoder().encode(["v": Twice()]) == "v=last")
    }
}

@Suite struct FormUnkeyedContainerTests {
    private struct List: Encodable {
        enum Key: CodingKey { case k }

        func encode(to encoder: any Encoder) throws {
            var list = encoder.unkeyedContainer()
            try list.encode(1)
            try list.encodeNil()
            var object = list.nestedContainer(keyedBy: Key.self)
            try object.encode("x", forKey: .k)
            var inner = list.nestedUnkeyedContainer()
            try inner.encode(true)
            try "s".encode(to: list.superEncoder())
            #expect(list.count == 5)
        }
    }

    @Test func elementsAreNumberedInOrder() throws {
        let encoder = HTTPSession.URLEncodedFormEncoder(arrayEncoding: .indexInBrackets, nilEncoding: .null)
        let text: String = try encoder.encode(["v": List()])
        #expect(text.removingPercentEncoding == "v[0]=1&v[1]=null&v[2][k]=x&v[3][0]=1&v[4]=s")
    }
}
