import Testing

@testable import WiretapeTesting

struct CassetteClaimsTests {
    private let claims = CassetteClaims()

    @Test func whatIsRecordedIsForOneAlone() throws {
        let name = try CassetteName("pets/list")
        #expect(try self.claims.claim("/a", of: name, records: { true }))
        for records in [false, true] {
            let error = #expect(throws: CassetteTestError.self) { try self.claims.claim("/a", of: name, records: { records }) }
            #expect(error?.code == .inUse)
            #expect(error?.message.contains("\"pets/list\" is being recorded by another test") == true)
        }
        #expect(try self.claims.claim("/b", of: name, records: { true }))
        self.claims.release("/a")
        #expect(try self.claims.claim("/a", of: name, records: { true }))
    }

    @Test func whatIsReplayedIsForAll() throws {
        let name = try CassetteName("a")
        for _ in 0..<2 { #expect(try !self.claims.claim("/a", of: name, records: { false })) }
        #expect(try self.claims.claim("/a", of: name, records: { true }))
    }
}
