import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct URLTextTests {
    @Test(arguments: [
        "http://a/", "https://a.b:8443/c/d?e=f#g", "http://a", "http://a?b=c", "http://[::1]:8/a", "http://user:p%40@h/", "HTTP://H/%7e%2F",
        "http://h/a//b/../c;d=1,2", "http://a_b/", "http://h/?q=a+b&c=%ED%95%9C", "http://h/?", "http://h/#", "http://h:/",
        "http://127.0.0.1/",
        "http://h/!$&'()*+,;=:@-._~", "data:text/plain,a", "file:///tmp/a", "http://h./", "http://h/a?b?c/d",
    ]) func validURLIsUnchanged(text: String) throws {
        #expect(try URLText(text).url.absoluteString == text)
    }

    @Test(arguments: [
        ("http://h/한 글", "http://h/%ED%95%9C%20%EA%B8%80"), ("http://h/?k[]=1&k[a]=2", "http://h/?k%5B%5D=1&k%5Ba%5D=2"),
        ("http://h/%20 %41", "http://h/%20%20%41"), ("http://h/?x='\"<>|^`{}\\", "http://h/?x='%22%3C%3E%7C%5E%60%7B%7D%5C"),
        ("http://h/#a b#c", "http://h/#a%20b%23c"), ("http://한글.kr/", "http://xn--bj0bj06e.kr/"), ("http://ü:p@h/", "http://%C3%BC:p@h/"),
        ("http://h/🐶", "http://h/%F0%9F%90%B6"), ("http://BÜCHER.de/", "http://xn--bcher-kva.de/"),
    ]) func invalidCharactersAreEncodedOnce(text: String, encoded: String) throws {
        let url = try URLText(text).url
        #expect(url.absoluteString == encoded)
        #expect(try URLText(url.absoluteString).url == url)
    }

    @Test(arguments: [
        ("", URLConversionError.Code.noScheme), ("a", .noScheme), ("/a/b", .noScheme), ("//h/a", .noScheme), ("h:p/a b", .notAURL),
        ("1a://h/", .noScheme), (" http://h/", .noScheme), ("http:", .noHost), ("http:/a", .noHost), ("http:///a", .noHost),
        ("https://?a", .noHost), ("http://:80/", .noHost), ("http://h/%7", .invalidPercent), ("http://h/%", .invalidPercent),
        ("http://h/?a=%zz", .invalidPercent), ("http://h/#%G0", .invalidPercent), ("http://a b/", .invalidHost),
        ("http://a\"b/", .invalidHost),
        ("http://[::1/", .invalidHost), ("http://[]/", .invalidHost), ("http://[a b]/", .invalidHost), ("http://h:99999/", .invalidPort),
        ("http://h:1a/", .invalidPort), ("http://h:-1/", .invalidPort), ("http://h/a\nb", .invalidCharacter),
        ("http://h/\0", .invalidCharacter), ("http://h\r\n/", .invalidCharacter), ("http://♥.com/", .invalidHost),
    ]) func malformedURLIsRefused(text: String, code: URLConversionError.Code) {
        // An unknown scheme needs no host, and is encoded as well.
        guard code != .notAURL else { return #expect((try? URLText(text).url.absoluteString) == "h:p/a%20b") }
        #expect {
            _ = try URLText(text)
        } throws: {
            ($0 as? URLConversionError)?.code == code
        }
    }

    @Test func theErrorSaysWhatToWrite() {
        #expect {
            _ = try URLText("http://h/100%7")
        } throws: {
            "\($0)" == "\"http://h/100%7\" has a \"%\" that is not followed by two hex digits: write \"%25\" for a percent sign"
        }
    }

    @Test(arguments: [
        "http://me:geheim7@h:x/", "http://me:ge/geheim7@h/", "http:me:geheim7@h", "me@geheim7:x@h", "http://h:x/?a=geheim7",
        "1me:geheim7@h//x",
    ]) func theErrorShowsNoUserAndNoQuery(text: String) {
        #expect {
            _ = try URLText(text)
        } throws: {
            !"\($0)".contains("geheim7")
        }
    }

    @Test func anythingIsTakenOrRefused() {
        var generator = SeededGenerator(seed: 25)
        let pieces = [
            "http", ":", "/", "//", "h", "%", "%41", "?", "#", "[", "]", "@", "한", " ", "\u{301}", "🐶", "1", ".", "::", "\\", "\t",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...12, using: &generator)).compactMap { _ in pieces.randomElement(using: &generator) }.joined()
            for candidate in [text, "http://" + text, "http://h/" + text] {
                guard let url = try? URLText(candidate).url else { continue }
                #expect((try? URLText(url.absoluteString).url) == url, "\(candidate)")
            }
        }
    }
}

@Suite struct PercentEncoderTests {
    @Test func disallowedCharactersAreEncodedAsUTF8() {
        #expect(PercentEncoder.unreserved.encode("a-Z_0.~ /한%") == "a-Z_0.~%20%2F%ED%95%9C%25")
        #expect(PercentEncoder(CharacterSet(charactersIn: "a한")).encode("a한b") == "a%ED%95%9C%62")
    }

    /// Foundation's own encoding is the reference.
    @Test func allOfASCIIIsAsFoundationHasIt() {
        let text = String(String.UnicodeScalarView((0..<128).map { Unicode.Scalar($0 as UInt8) }))
        for set in [CharacterSet.urlQueryAllowed, .urlPathAllowed, .alphanumerics, HTTPSession.URLEncodedFormEncoder.queryAllowed] {
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
