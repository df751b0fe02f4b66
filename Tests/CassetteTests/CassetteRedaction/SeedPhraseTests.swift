import Testing

@testable import CassetteRedaction

/// The words of a wallet, which have no digit and are several.
@Suite struct SeedPhraseTests {
    static let words = [
        "abandon", "ability", "able", "about", "above", "absent", "absorb", "abstract", "absurd", "abuse", "access", "accident", "account",
        "accuse", "achieve", "acid", "acoustic", "acquire", "across", "act", "action", "actor", "actress", "actual",
    ]

    private static func phrase(_ count: Int = 12, _ separator: String = " ") -> String {
        Self.words.prefix(count).joined(separator: separator)
    }

    @Test(arguments: [
        "{\"mnemonic\":\"§\"}", "{\"seedPhrase\":\"§\"}", "{\"seed\": \"§\"}", "{\"secretRecoveryPhrase\":\"§\"}",
        "{\"mnemonic\":{\"phrase\":\"§\"}}",
        "mnemonic = §\n", "MNEMONIC=\"§\"\n", "DEPLOYER_MNEMONIC=\"§\"\n", "seed phrase: §", "const mnemonic = \"§\";",
    ])
    func wordsOfAWalletAreRemoved(text: String) {
        for count in [12, 15, 18, 21, 24] {
            let redacted = RedactionFixtures.body(text.replacing("§", with: Self.phrase(count)), type: "text/plain")
            #expect(redacted == text.replacing("§", with: "{{secret:1}}"), "\(count)")
        }
    }

    @Test func listsAndFormsOfWords() {
        let list = Self.phrase(12, "\",\"")
        #expect(RedactionFixtures.body("{\"mnemonic\":[\"\(list)\"]}") == "{\"mnemonic\":[\"{{secret:1}}\"]}")
        let form = RedactionFixtures.body("mnemonic=\(Self.phrase(12, "+"))&a=b", type: "application/x-www-form-urlencoded")
        #expect(form == "mnemonic=%7B%7Bsecret%3A1%7D%7D&a=b")
        let escaped = RedactionFixtures.body("{\"line\":\"{\\\"mnemonic\\\":\\\"\(Self.phrase())\\\"}\"}")
        #expect(escaped == "{\"line\":\"{\\\"mnemonic\\\":\\\"{{secret:1}}\\\"}\"}")
    }

    @Test(arguments: [
        "{\"mnemonic\":\"mov eax\"}", "{\"mnemonic\":\"My very educated mother just served us noodles\"}", "{\"seed\":\"42\"}",
        "{\"seed\":12345678}", "{\"phrase\":\"some brown dogs jump over lazy cats and then they run away\"}",
        "{\"seed\":\"Plant the seed in the soil and water it every day.\"}", "seed: 12345678901234567890\n", "mnemonic: add\n",
    ])
    func otherValuesStay(text: String) { HiddenPlace.stays(text, type: "text/plain") }

    @Test func otherNumbersOfWordsStay() {
        for count in [11, 13, 14] { HiddenPlace.stays("{\"phrase\":\"\(Self.phrase(count))\"}", type: "application/json") }
    }
}
