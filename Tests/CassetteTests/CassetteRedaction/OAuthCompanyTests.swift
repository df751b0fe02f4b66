@testable import CassetteRedaction
import Testing

@Suite struct OAuthCompanyTests {
    @Test func manyCodesCostOneLookAtEachByte() {
        let text = Array(String(repeating: #"{"code":"E_1","at":1},"#, count: 5000).utf8) + Array(#"{"grant_type":"x","code":"c0de"}"#.utf8)
        text.withUnsafeBytes { bytes in
            var company = OAuthCompany.inJSON
            var found = 0
            for start in stride(from: 0, to: bytes.count, by: 22) {
                if company.isIn(max(0, start - OAuthCompany.reach)..<min(bytes.count, start + OAuthCompany.reach), of: bytes) { found += 1 }
            }
            #expect(company.looked <= bytes.count)
            #expect(found == 94)
        }
    }

    @Test func wordsAreFoundWithinTheRangeOnly() {
        let text = Array("a&state=1&b&client_id=2&c".utf8)
        text.withUnsafeBytes { bytes in
            var company = OAuthCompany.inQueries
            func isIn(_ range: Range<Int>) -> Bool { company.isIn(range, of: bytes) }
            #expect(!isIn(0..<7))
            #expect(isIn(2..<8))
            #expect(!isIn(3..<20))
            #expect(isIn(12..<22))
            #expect(!isIn(13..<bytes.count))
        }
    }

    /// Distant members do not affect a `code`, but near ones on either side do.
    @Test func aCodeIsJudgedByItsOwnNeighbours() {
        let far = String(repeating: #"{"x":1},"#, count: 300)
        let text = #"[{"code":"one11","grant_type":"a"},"# + far + #"{"code":"two22"},"# + far + #"{"redirect_uri":"b","code":"three3"}]"#
        let redacted = RedactionFixtures.body(text)
        #expect(!redacted.contains("one11") && redacted.contains("two22") && !redacted.contains("three3"))
        let query = "http://h/?state=1&code=one11 http://h/?code=two22 http://h/?code=three3&client_id=4"
        #expect(RedactionFixtures.body(query, type: "text/plain").contains("two22"))
        #expect(!RedactionFixtures.body(query, type: "text/plain").contains("three3"))
        #expect(!RedactionFixtures.body(query, type: "text/plain").contains("one11"))
    }
}
