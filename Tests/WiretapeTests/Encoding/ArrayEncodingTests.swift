import Testing

@testable import Wiretape

@Suite struct ArrayEncodingTests {
    @Test func elementsAreNamedAfterTheirList() {
        #expect(URLEncodedFormEncoder.ArrayEncoding.brackets.encode("a", atIndex: 2) == "a[]")
        #expect(URLEncodedFormEncoder.ArrayEncoding.noBrackets.encode("a", atIndex: 2) == "a")
        #expect(URLEncodedFormEncoder.ArrayEncoding.indexInBrackets.encode("a", atIndex: 2) == "a[2]")
        #expect(URLEncodedFormEncoder.ArrayEncoding.custom { "\($0)\($1)" }.encode("a", atIndex: 2) == "a2")
    }
}
