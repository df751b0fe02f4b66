import Testing

@testable import Wiretape

@Suite struct KeyPathEncodingTests {
    @Test func aChildFollowsItsParent() {
        #expect(URLEncodedFormEncoder.KeyPathEncoding.brackets.encode("c") == "[c]")
        #expect(URLEncodedFormEncoder.KeyPathEncoding.dots.encode("c") == ".c")
        #expect(URLEncodedFormEncoder.KeyPathEncoding.custom { "->\($0)" }.encode("c") == "->c")
    }
}
