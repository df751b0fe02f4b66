import Testing

@testable import CassetteModel

struct EncodedWordsTests {
    @Test(arguments: [
        ("=?utf-8?B?7J2M7Iud?=", "음식"), ("=?UTF-8?q?=EC=9D=8C_a?=.txt", "음 a.txt"), ("=?euc-kr?b?wL0=?=", "음"),
        ("a =?utf-8?Q?b?= c", "a b c"), ("=?utf-8?Q?a?= =?utf-8?Q?b?=", "ab"), ("=?utf-8?Q?a?=\t=?iso-8859-1?Q?=E9?= x", "aé x"),
        ("=?utf-8?B?7J0=?= =?utf-8?B?jA==?=", "음"), ("=?utf-8*ko?Q?a?=", "a"), ("=?utf-8?Q?a_?=", "a "), ("=?utf-8?Q??=", ""),
        ("음 =?utf-8?Q?a?=", "음 a"), ("=?utf-8?Q?a?=x=?utf-8?Q?b?=", "axb"), ("==?utf-8?Q?a?=", "=a"),
    ]) func wordsAreDecoded(_ text: String, _ decoded: String) {
        #expect(EncodedWords.text(Array(text.utf8)) == decoded)
    }

    @Test(arguments: [
        "", "a", "=?", "=?utf-8?B?", "=?utf-8?B?7J2M", "=?utf-8?B?7J2M?", "=?utf-8?X?a?=", "=?utf-8?BB?a?=", "=??Q?a?=", "=?x-none?Q?a?=",
        "=?utf-8?Q?=FF?=", "=?utf-8?B?7J0=?= =?euc-kr?B?jA==?=", "=?u t?Q?a?=", "=?utf-8?Q?a?b?=",
    ]) func whatIsNoneIsLeft(_ text: String) {
        #expect(EncodedWords.text(Array(text.utf8)) == nil)
    }

    @Test func aWordHasALongestLength() {
        let text = String(repeating: "a", count: 1012)
        #expect(EncodedWords.text(Array("=?utf-8?Q?\(text)?=".utf8)) == text)
        #expect(EncodedWords.text(Array("=?utf-8?Q?\(text)a?=".utf8)) == nil)
    }
}
