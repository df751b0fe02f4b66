import Testing

@testable import Wiretape

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
        let text: String = try URLEncodedFormEncoder(alphabetizeKeyValuePairs: false, nilEncoding: .null).encode(Object())
        #expect(text.removingPercentEncoding == "d=null&a[b]=1&b[]=2&super=s&c=c")
    }

    private struct Optionals: Encodable {
        var a: Bool?, b: String?, c: Double?, d: Float?, e: Int?, f: Int8?, g: Int16?, h: Int32?, i: Int64?
        var j: UInt?, k: UInt8?, l: UInt16?, m: UInt32?, n: UInt64?, o: [Int]?
    }

    @Test func nilOfEveryTypeIsSeen() throws {
        let names = "abcdefghijklmno"
        #expect(
            try URLEncodedFormEncoder(nilEncoding: .dropValue).encode(Optionals()) == names.map { "\($0)=" }.joined(separator: "&"))
        #expect(try URLEncodedFormEncoder().encode(Optionals()) == "")
        let full = Optionals(a: true, b: "1", c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, j: 1, k: 1, l: 1, m: 1, n: 1, o: [1])
        let text: String = try URLEncodedFormEncoder(arrayEncoding: .noBrackets).encode(full)
        #expect(text == names.map { "\($0)=\("cd".contains($0) ? "1.0" : "1")" }.joined(separator: "&"))
    }
}
