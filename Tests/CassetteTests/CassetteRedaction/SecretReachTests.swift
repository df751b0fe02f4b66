@testable import CassetteRedaction
import Testing

@Suite struct SecretReachTests {
    @Test(arguments: [
        ("abc", true, "place"), ("password", true, "place"), ("hunter", true, "place"), ("12345678", true, "word"),
        ("hunter2x", true, "anywhere"), ("비밀번호", true, "place"), ("Zugangscode", true, "place"), ("Contraseña", true, "place"),
        ("पासवर्ड", true, "place"), ("Mot de passe", true, "place"), ("jeton d’accès", true, "place"), ("비밀번호1", true, "anywhere"),
        ("blue_monkey_tree", true, "anywhere"), ("login-password-2", true, "place"),
        ("correct horse battery", true, "place"), ("accepted", false, "place"), ("1732160000", false, "place"),
        ("2026-11-21", false, "place"),
        ("a3f9c2d1e8", false, "anywhere"), ("Europe/Berlin", false, "place"), ("QmFzZTY0VGV4dEhlcmU", false, "anywhere"),
    ])
    func wordsStayWhereTheyAre(text: String, isSure: Bool, reach: String) {
        #expect("\(SecretReach(Array(text.utf8), isSure: isSure))" == reach)
    }

    @Test func secretOfARuleIsSearchedForEvenIfItIsAWord() {
        #expect(SecretReach(Array("Alexander".utf8), isSure: true, isRuled: true) == .word)
    }
}
