import Testing

@testable import TapeTrust

@Suite struct PunycodeTests {
    /// RFC 3492, 7.1: Arabic, simplified Chinese, Hebrew, Korean, Spanish, Vietnamese, and Japanese with digits.
    @Test(arguments: [
        ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
        ("세계의모든사람들이한국어를이해한다면얼마나좋을까", "989aomsvi5e83db1d2a355cv1e0vak1dwrv93d5xbh15a0dt30a5jpsd879ccm6fea98c"),
        ("PorquénopuedensimplementehablarenEspañol", "PorqunopuedensimplementehablarenEspaol-fmd56a"),
        ("TạisaohọkhôngthểchỉnóitiếngViệt", "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"),
        ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
    ])
    func theSamplesOfTheRFC(text: String, punycode: String) {
        #expect(Punycode.encode(Array(text.unicodeScalars)) == punycode)
    }

    @Test func asciiAloneGetsAHyphen() {
        // RFC 3492, 7.1 (S).
        #expect(Punycode.encode(Array("-> $1.00 <-".unicodeScalars)) == "-> $1.00 <--")
        #expect(Punycode.encode([]) == "")
    }

    @Test func noTextIsTooLongOrTooFarUp() {
        #expect(!Punycode.encode(Array(repeating: "\u{10FFFF}", count: 100_000)).isEmpty)
        #expect(!Punycode.encode((0..<300).map { $0 % 2 == 0 ? "a" : "\u{10FFFD}" }).isEmpty)
    }
}
