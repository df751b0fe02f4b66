import CassetteModel
import TapeBytes
import Testing

@testable import CassetteRedaction

/// Keys of vendors in texts that do not name them.
@Suite struct VendorKeyTests {
    private static let alphanumeric = "aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5eF6gH7iJ8kL9mN0oP"
    private static let hex = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"

    private static func tail(_ key: VendorKey) -> String {
        let source =
            switch key.alphabet {
            case .hex: Self.hex
            case .uuid: "0a1b2c3d-1234-4abc-8def-0a1b2c3d4e5f"
            case .upper: Self.alphanumeric.uppercased()
            case .alphanumeric, .word: String(repeating: Self.alphanumeric, count: 20)
            }
        let first = String(source.prefix(key.length.lowerBound))
        return ([first] + (0..<key.segments).map { _ in String(source.prefix(40)) }).joined(separator: ".")
    }

    @Test func everyKeyIsFoundInRunningText() {
        for key in VendorKey.all {
            let secret = String(decoding: key.prefix, as: UTF8.self) + Self.tail(key)
            for (before, after) in [("see ", " there"), ("", ""), ("{\"x\":\"", "\"}"), ("https://a.test/v1/", "?b=c"), ("x=", ",")] {
                #expect(
                    RedactionFixtures.body(before + secret + after, type: "text/plain") == before + "{{api-key:1}}" + after,
                    "\(before)\(secret)\(after)")
            }
        }
    }

    @Test(arguments: [
        "aB1cD2eF3gH4iJ.atlasv1.aB1cD2eF3gaB1cD2eF3gaB1cD2eF3gaB1cD2eF3gaB1cD2eF3gaB1cD2eF3gaB1cD2e",
        "patAbCdEfGhIj1K2m.0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
    ])
    func keysOfTwoSegmentsAreFound(secret: String) {
        #expect(RedactionFixtures.body("see \(secret) there", type: "text/plain") == "see {{api-key:1}} there")
    }

    @Test(arguments: [
        "hf_this_is_the_name_of_a_function_in_a_program", "key-with-many-words-and-nothing-else-in-it",
        "secret_name_of_a_value_in_a_program_1",
        "sk-learn-contrib-examples-and-documentation-2024", "api-reference-and-guides-for-developers",
        "xai-explainable-models-and-their-uses",
        "SK0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3dff", "task-0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d", "pk_live_aB1cD2eF3gH4iJ5kL6mN7oP8",
        "EAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "mySG.aB1cD2eF3gH4iJ5kL6mN7o.aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0u",
        "figd_component_library_of_the_design_system_team", "pul-request-0123456789-0123456789-0123456789",
    ])
    func otherWordsStay(text: String) {
        let body = "see \(text) there"
        #expect(RedactionFixtures.body(body, type: "text/plain") == body)
    }

    /// Letters alone may be a token by chance.
    @Test func tokensWithoutDigitsAreFound() {
        #expect(
            RedactionFixtures.lines(["X-TFE-Token: MgssjucC8NbbudNZtvmysUbtnbibNaKi"]) != ["X-TFE-Token: MgssjucC8NbbudNZtvmysUbtnbibNaKi"])
        #expect(RedactionFixtures.lines(["X-Acme-Token: cXUVSyysSbsRVgmtbHLsLEPi"]) != ["X-Acme-Token: cXUVSyysSbsRVgmtbHLsLEPi"])
        let name = ["X-Acme-Token: aVeryLongNameOfAVariableInAProgram"]
        #expect(RedactionFixtures.lines(name) == name)
    }
}
