import Testing
@testable import TapeProxy

@Suite struct BasicCredentialsTests {
    @Test func theFirstColonDividesThem() throws {
        // a:b:c
        let parts = try #require(BasicCredentials("bAsIc YTpiOmM=")?.parts)
        #expect(Array(parts.user) == Array("a".utf8))
        #expect(Array(parts.password) == Array("b:c".utf8))
    }

    @Test func aPairIsReadAsItWasWritten() {
        let pair: [UInt8] = [0x61, 0x3A, 0xFF, 0x00]
        #expect(BasicCredentials("Basic \(BasicCredentials.encoded(pair))")?.pair == pair)
        #expect(BasicCredentials.encoded(Array("a:b".utf8)) == "YTpi")
    }

    @Test func severalSpacesAreOne() {
        // RFC 9110, 11.4.
        #expect(BasicCredentials("Basic   YTpi")?.pair == Array("a:b".utf8))
    }

    @Test func whatIsNotBasicIsNil() {
        for value in [nil, "", "Basic", "Basic !", "Bearer YTpiOmM=", "YTpiOmM="] {
            #expect(BasicCredentials(value) == nil, "\(value ?? "nil")")
        }
        // ab
        #expect(BasicCredentials("Basic YWI=")?.parts == nil)
    }
}
