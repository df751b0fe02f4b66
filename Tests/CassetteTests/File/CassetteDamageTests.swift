import Testing
@testable import CassetteStore

@Suite struct CassetteDamageTests {
    private func stretch(_ interactions: Int?) -> CassetteDamage.Stretch {
        CassetteDamage.Stretch(bytes: 100..<150, line: 7, reason: "the end is missing", interactions: interactions)
    }

    @Test func sumsUpWhatIsLost() {
        var damage = CassetteDamage(path: "pets.json", stretches: [self.stretch(1)])
        #expect(damage.summary == "\"pets.json\" is torn: 1 exchange lost, 50 bytes left out, from line 7 (the end is missing)")
        damage.stretches.append(self.stretch(2))
        damage.keptAt = "pets.json.torn-1"
        #expect(damage.interactions == 3)
        #expect(damage.byteCount == 100)
        #expect(damage.summary.hasSuffix("and in 1 more places; the bytes are kept in \"pets.json.torn-1\""))
    }

    @Test func oneUnknownCountMakesTheSumUnknown() {
        let damage = CassetteDamage(path: "pets.json", stretches: [self.stretch(1), self.stretch(nil)])
        #expect(damage.interactions == nil)
        #expect(damage.summary.contains("an unknown number of exchanges lost"))
    }
}
