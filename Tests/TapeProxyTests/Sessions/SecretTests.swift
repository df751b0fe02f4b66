import Testing
@testable import TapeProxy

@Suite struct SecretTests {
    @Test func onlyTheSecretItselfIsEqual() {
        let secret = Secret("open sesame")
        #expect(secret.isEqual(to: Array("open sesame".utf8)))
        for text in ["", "open", "open sesamf", "Open sesame", "open sesame ", "open sesameopen sesame", "\0"] {
            #expect(!secret.isEqual(to: Array(text.utf8)), "\(text)")
        }
        #expect(!Secret("").isEqual(to: [0]))
    }

    @Test func aSecretShowsItselfOnRequestAlone() {
        #expect(!"\(Secret("open sesame"))".contains("sesame"))
        #expect(Secret("open sesame").revealed == "open sesame")
    }

    @Test func noTwoAreAlike() {
        let some = Set((0..<100).map { _ in Secret.random().revealed })
        #expect(some.count == 100)
        #expect(some.allSatisfy { $0.count == 48 && $0.allSatisfy(\.isHexDigit) })
    }
}
