import Testing

@testable import CassetteFormat

@Suite struct FormPairsTests {
    private func pairs(_ text: String) -> [String] { FormPairs.parse(Array(text.utf8)[...]).map { "\($0.name)|\($0.value)" } }

    @Test func pairsAreSplitAndDecoded() {
        #expect(self.pairs("a=1&b=%20+c&d&=e&f=g=h&&") == ["a|1", "b|  c", "d|", "|e", "f|g=h"])
    }

    @Test func whatCannotBeDecodedStays() {
        #expect(self.pairs("a=%&b=%4&c=%zz&d=%FF+") == ["a|%", "b|%4", "c|%zz", "d|%FF+"])
    }

    @Test func aURLsFragmentIsNoPartOfItsQuery() {
        #expect(FormPairs.query(of: "http://a/?x=1#?y=2") == [FormPairs.Pair(name: "x", value: "1")])
        #expect(FormPairs.query(of: "http://a/#?y=2").isEmpty)
    }
}
