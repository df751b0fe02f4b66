import Foundation
import Testing

@testable import Wiretape

@Suite struct PercentEncoderTests {
    @Test func whatIsNotAllowedIsEncodedAsUTF8() {
        #expect(PercentEncoder.unreserved.encode("a-Z_0.~ /한%") == "a-Z_0.~%20%2F%ED%95%9C%25")
        #expect(PercentEncoder(CharacterSet(charactersIn: "a한")).encode("a한b") == "a%ED%95%9C%62")
    }

    /// Foundation's own encoding is the oracle.
    @Test func allOfASCIIIsAsFoundationHasIt() {
        let text = String(String.UnicodeScalarView((0..<128).map { Unicode.Scalar($0 as UInt8) }))
        for set in [CharacterSet.urlQueryAllowed, .urlPathAllowed, .alphanumerics, URLEncodedFormEncoder.queryAllowed] {
            #expect(PercentEncoder(set).encode(text) == text.addingPercentEncoding(withAllowedCharacters: set))
        }
    }

    @Test func encodingsThatAreThereStay() {
        #expect(PercentEncoder.target.encodeOnce("a%2f b") == "a%2f%20b")
        for broken in ["%", "a%", "%4", "%4g", "%%41"] { #expect(PercentEncoder.target.encodeOnce(broken) == nil) }
    }

    @Test func bytesOutsideASCIIAreNeverAllowed() {
        #expect(
            PercentEncoder.target.allows(UInt8(ascii: "~")) && !PercentEncoder.target.allows(0x80) && !PercentEncoder.target.allows(255))
    }
}
