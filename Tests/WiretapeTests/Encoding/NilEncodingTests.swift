import Testing

@testable import Wiretape

@Suite struct NilEncodingTests {
    @Test func nothingIsLeftOutOrWritten() {
        #expect(URLEncodedFormEncoder.NilEncoding.dropKey.encode() == nil)
        #expect(URLEncodedFormEncoder.NilEncoding.dropValue.encode() == "")
        #expect(URLEncodedFormEncoder.NilEncoding.null.encode() == "null")
        #expect(URLEncodedFormEncoder.NilEncoding.custom { "0" }.encode() == "0")
    }
}
