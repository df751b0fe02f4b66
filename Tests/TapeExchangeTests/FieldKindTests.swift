internal import Testing

@testable internal import TapeExchange

@Suite struct FieldKindTests {
    @Test func fieldsForOneConnectionAreKnownInAnyCase() {
        for name in ["Keep-Alive", "PROXY-CONNECTION", "proxy-authenticate", "Proxy-Authorization", "Proxy-Authentication-Info"] {
            #expect(FieldKind.of(Array(name.utf8)[...]) == .hopByHop)
        }
        #expect(FieldKind.of(Array("cOnnection".utf8)[...]) == .connection)
        #expect(FieldKind.of(Array("tE".utf8)[...]) == .te)
        #expect(FieldKind.of(Array("Upgrade".utf8)[...]) == .upgrade)
    }

    @Test func namesOfTheSameLengthAreOthers() {
        for length in 0...30 { #expect(FieldKind.of([UInt8](repeating: 120, count: length)[...]) == .endToEnd) }
        for name in ["Via", "Date", "Expires", "Set-Cookie", "Content-MD5", "Authorization", "Cookie"] {
            #expect(FieldKind.of(Array(name.utf8)[...]) == .endToEnd)
        }
    }

    @Test func framingAndRoutingAreTheirOwnKinds() {
        #expect(FieldKind.of(Array("HOST".utf8)[...]) == .host)
        #expect(FieldKind.of(Array("Content-length".utf8)[...]) == .contentLength)
        #expect(FieldKind.of(Array("Transfer-encoding".utf8)[...]) == .transferEncoding)
        #expect(FieldKind.of(Array("Trailer".utf8)[...]) == .trailer)
        #expect(FieldKind.of(Array("Content-Encoding".utf8)[...]) == .contentEncoding)
    }
}
