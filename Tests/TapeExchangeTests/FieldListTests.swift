internal import Testing

@testable internal import TapeExchange

@Suite struct FieldListTests {
    @Test func elementsAreTrimmedAndEmptyOnesLeftOut() {
        for (text, elements) in [("a", ["a"]), (" a ,\tb,,c ", ["a", "b", "c"]), ("", []), (",, ,", []), ("a b,c", ["a b", "c"])] {
            #expect(FieldList(Array(text.utf8)[...]).map { String(decoding: $0, as: UTF8.self) } == elements)
        }
    }

    @Test func comparisonIgnoresCase() {
        #expect(FieldList.equals(Array("Keep-ALIVE".utf8)[...], "keep-alive"))
        #expect(!FieldList.equals(Array("keep-alivE2".utf8)[...], "keep-alive"))
        #expect(!FieldList.equals(Array("keep\rAlive".utf8)[...], "keep-alive"))
    }
}
