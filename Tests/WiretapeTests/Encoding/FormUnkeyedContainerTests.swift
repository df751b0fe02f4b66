import Testing

@testable import Wiretape

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
        let encoder = URLEncodedFormEncoder(arrayEncoding: .indexInBrackets, nilEncoding: .null)
        let text: String = try encoder.encode(["v": List()])
        #expect(text.removingPercentEncoding == "v[0]=1&v[1]=null&v[2][k]=x&v[3][0]=1&v[4]=s")
    }
}
