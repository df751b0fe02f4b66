@testable import CassetteModel
@testable import CassetteRedaction
import Testing

@Suite struct SecretVaultTests {
    @Test func theSameSecretHasTheSamePlaceholder() {
        let vault = SecretVault()
        #expect(vault.placeholder(for: Array("a/b-secret1".utf8), kind: "token").description == "{{token:1}}")
        #expect(vault.placeholder(for: Array("a%2Fb-secret1".utf8), kind: "cookie").description == "{{token:1}}")
        #expect(vault.placeholder(for: Array("another1".utf8), kind: "token").description == "{{token:2}}")
        #expect(vault.placeholder(for: Array("third123".utf8), kind: "cookie").description == "{{cookie:1}}")
        #expect(vault.count == 3)
    }

    @Test func itsGenerationGrowsWithTheKnownSecrets() {
        let vault = SecretVault()
        #expect(vault.isEmpty)
        _ = vault.placeholder(for: Array("abc".utf8), kind: "cookie")
        #expect(vault.generation == 0)
        _ = vault.placeholder(for: Array("a3f9c2d1e8".utf8), kind: "token")
        #expect(vault.generation == 1)
        _ = vault.placeholder(for: Array("a3f9c2d1e8".utf8), kind: "token")
        #expect(vault.generation == 1)
        #expect(!vault.isEmpty)
        #expect(vault.known()?.placeholders.count == 2)
    }

    @Test func secretsBeyondTheByteLimitAreCounted() {
        let vault = SecretVault(byteLimit: 1000)
        let long = Array(repeating: UInt8(ascii: "x"), count: 990)
        _ = vault.placeholder(for: long, kind: "token")
        #expect(vault.gaps.beyondLimits == 0)
        var body: WireBody? = WireBody(Array(#"{"token":"0123456789abcdef"}"#.utf8))
        var request = RecordedRequest(method: "POST", url: "http://h/")
        let outcome = Redactor(vault: vault).redact(request: &request, body: &body)
        #expect(body?.bytes == Array(#"{"token":"{{token:0}}"}"#.utf8))
        #expect(vault.gaps.beyondLimits == 1)
        #expect(outcome.note?.contains("at their own places only") == true)
    }

    @Test func spellingsOfOneSecretTakeTheSameRoom() {
        let vault = SecretVault(byteLimit: 1000)
        let spellings = ["a/b-secret1", "a%2Fb-secret1", "a%2fb-secret1"].map { Array($0.utf8) }
        let room = spellings[0].count + spellings[1].count
        let long = Array(repeating: UInt8(ascii: "x"), count: 1000 - room)
        _ = vault.placeholder(for: long, kind: "token", reach: .place)
        _ = vault.placeholder(for: spellings[0], kind: "token")
        _ = vault.placeholder(for: spellings[1], kind: "token")
        #expect(vault.generation == 2 && vault.gaps.beyondLimits == 0)
        #expect(vault.placeholder(for: spellings[2], kind: "token").description == "{{token:2}}")
        #expect(vault.generation == 2 && vault.gaps.beyondLimits == 1)
        _ = vault.placeholder(for: spellings[1], kind: "token")
        #expect(vault.gaps.beyondLimits == 1)
    }

    @Test func secretsOfACopyStayInTheCopy() {
        let vault = SecretVault()
        _ = vault.placeholder(for: Array("a3f9c2d1e8".utf8), kind: "token")
        let copy = SecretVault(copying: vault)
        #expect(copy.placeholder(for: Array("a3f9c2d1e8".utf8), kind: "cookie").description == "{{token:1}}")
        _ = copy.placeholder(for: Array("b3f9c2d1e8".utf8), kind: "token")
        #expect(copy.count == 2)
        #expect(vault.count == 1)
    }
}

@Suite struct PlaceholderTallyTests {
    private func tally(_ text: String) -> PlaceholderTally {
        var tally = PlaceholderTally()
        Array(text.utf8).withUnsafeBytes { tally.add($0) }
        return tally
    }

    @Test func placeholdersAreCountedByKind() {
        let tally = self.tally("Bearer {{authorization:2}} {{jwt:1}}{{jwt:7}} {{{jwt:3}}} { {{ {{:1}} {{no}} %7B%7Bcookie%3A4%7D%7D")
        #expect(tally.counts == ["authorization": 1, "jwt": 3, "cookie": 1])
        #expect(tally.highest == ["authorization": 2, "jwt": 7, "cookie": 4])
    }

    @Test func removedPlaceholdersAreNotCounted() {
        var tally = self.tally("{{jwt:1}} {{jwt:2}} {{cookie:1}}")
        Array("{{jwt:1}} {{cookie:1}}".utf8).withUnsafeBytes { tally.remove($0) }
        #expect(tally.counts.filter { $0.value > 0 } == ["jwt": 1])
    }

    @Test func aNumberOutOfReasonIsNotCountedOnFrom() {
        #expect(self.tally("{{jwt:999999999}} {{jwt:4}}").highest == ["jwt": 4])
    }

    @Test func aLongSecretIsTakenOutAtItsPlaceAndCounted() {
        let vault = SecretVault()
        let long = Array(repeating: UInt8(ascii: "x"), count: SecretVault.longest + 1)
        #expect(vault.placeholder(for: long, kind: "blob").description == "{{blob:1}}")
        #expect(vault.placeholder(for: long, kind: "blob").description == "{{blob:1}}")
        #expect(vault.placeholder(for: long + [65], kind: "blob").description == "{{blob:2}}")
        #expect(vault.gaps.long == 3)
        #expect(vault.isEmpty)
    }
}
