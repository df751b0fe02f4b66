import Testing

@testable import Wiretape

@Suite struct BoolEncodingTests {
    @Test func bothValuesOfBothEncodings() {
        #expect([true, false].map(URLEncodedFormEncoder.BoolEncoding.numeric.encode) == ["1", "0"])
        #expect([true, false].map(URLEncodedFormEncoder.BoolEncoding.literal.encode) == ["true", "false"])
    }
}
