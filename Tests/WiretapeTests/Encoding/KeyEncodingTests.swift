import Testing

@testable import Wiretape

@Suite struct KeyEncodingTests {
    @Test(arguments: [
        ("oneTwoThree", "one_two_three"), ("myURLProperty", "my_url_property"), ("URLPath", "url_path"), ("URL", "url"), ("a", "a"),
        ("", ""),
        ("page2Size", "page2_size"), ("a_B", "a_b"), ("_privateKey", "_private_key"), ("Ünicode한Key", "ünicode한_key"),
    ]) func wordsBeginWithUpperCase(key: String, expected: String) {
        #expect(URLEncodedFormEncoder.KeyEncoding.convertToSnakeCase.encode(key) == expected)
        let kebab = URLEncodedFormEncoder.KeyEncoding.convertToKebabCase.encode(key.filter { $0 != "_" })
        #expect(!kebab.contains("_") && kebab == kebab.lowercased())
    }

    @Test func anEmptyKeyStaysEmpty() {
        for encoding in [URLEncodedFormEncoder.KeyEncoding.capitalized, .uppercased, .lowercased, .convertToKebabCase] {
            #expect(encoding.encode("") == "")
        }
    }
}
