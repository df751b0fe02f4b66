@testable internal import TapeExchange
internal import Testing

@Suite struct ReverseTargetTests {
    /// The path, the URL, the origin-form, the prefix of the URL, and the path to its origin.
    @Test(arguments: [
        ("/https://a/b?c=/d", "https://a/b?c=/d", "/b?c=/d", "/", "/https://a"),
        ("/http://A:81/b", "http://A:81/b", "/b", "/", "/http://A:81"),
        ("/https:/a/b", "https://a/b", "/b", "/", "/https:/a"),
        ("/HTTPS://a", "https://a/", "/", "/", "/HTTPS://a"),
        ("/https://a?b", "https://a/?b", "/?b", "/", "/https://a"),
        ("/ws://a/b", "http://a/b", "/b", "/", "/ws://a"), ("/WSS:/a/b", "https://a/b", "/b", "/", "/WSS:/a"),
        ("/https://a//b/../c", "https://a//b/../c", "//b/../c", "/", "/https://a"),
        ("/https://a/http://b/c", "https://a/http://b/c", "/http://b/c", "/", "/https://a"),
        ("/https://[::1]:8/b", "https://[::1]:8/b", "/b", "/", "/https://[::1]:8"),
        ("/https://%5B::1%5d:8/b", "https://[::1]:8/b", "/b", "/", "/https://%5B::1%5d:8"),
        ("/s1:token/https://a/b", "https://a/b", "/b", "/s1:token/", "/s1:token/https://a"),
        ("/http:secret/http:/a/", "http://a/", "/", "/http:secret/", "/http:secret/http:/a"),
    ])
    func aPathThatBeginsWithAURL(path: String, url: String, originForm: String, base: String, prefix: String) throws {
        let target = try #require(try ReverseTarget(path, method: "GET"))
        #expect(target.url == url)
        #expect(target.originForm == originForm)
        #expect(target.base == base)
        #expect(target.prefix == prefix)
        #expect(target.origin.scheme == (url.hasPrefix("https") ? .https : .http))
    }

    @Test func credentialsArePercentDecoded() throws {
        let target = try #require(try ReverseTarget("/us%2Fer:p%3aw%25/https://a/", method: "GET"))
        #expect(target.credentials == Array("us/er:p:w%".utf8))
        #expect(try ReverseTarget("/user%3Aword/https://a/", method: "GET")?.credentials == Array("user:word".utf8))
        #expect(try ReverseTarget("/https://a/", method: "GET")?.credentials == nil)
    }

    @Test func optionsWithoutAPathAsksAboutTheServer() throws {
        let target = try #require(try ReverseTarget("/https://a", method: "OPTIONS"))
        #expect(target.originForm == "*")
        #expect(target.url == "https://a")
    }

    @Test(arguments: [
        "/", "", "*", "/a", "/a:b", "/a:b/c", "/ftp:/a/", "/s1:t//a", "/1ftp://a", "/a/b/https://c/", "/?https://a/", "/s1:t?https://a/b",
    ])
    func anyOtherPathIsNil(path: String) throws {
        #expect(try ReverseTarget(path, method: "GET") == nil)
    }

    @Test(arguments: [
        ("/https://", "needs a host name"), ("/https:/", "needs a host name"), ("/https:", "needs a host name"),
        ("/https:///a", "needs a host name"), ("/https://a:0/", "port from 1 to 65535"), ("/https://a:65536/", "port from 1 to 65535"),
        ("/https://a%20b/", "needs a host name"), ("/https://user:secret@a/", "userinfo"), ("/https://secret@a", "userinfo"),
        ("/https:a/b", "is not a URL after a slash"), ("/http:80/b", "is not a URL after a slash"),
        ("/https%3A//a/b", "is not a URL after a slash"), ("/HTTP%3a%2F%2Fa", "is not a URL after a slash"),
        ("/s:%secret/https://a/", "without two hex digits"), ("/s:secret%/https://a/", "without two hex digits"),
        ("/s1:secret/https:%2F%2Fa/b", "is not a URL after a slash"), ("/s1%3Asecret/https%3A//a/b", "is not a URL after a slash"),
        ("//https://a/", "before its URL"), ("/secret/https:/a/", "before its URL"),
        ("/s1:secret/https:a/b", "is not a URL after a slash"), ("/s1:secret/https://", "needs a host name"), ("/https://a/#b", "fragment"),
        ("/https://[::1/", "needs a host name"), ("/ftp://secret/", "a scheme other than"), ("/git+ssh%3A//a", "a scheme other than"),
        ("/H2.x-y://a", "a scheme other than"), ("/httpss://a/", "a scheme other than"),
    ])
    func anInvalidURLIsRefusedWithoutItsSecrets(path: String, reason: String) throws {
        let error = #expect(throws: MessageError.self) { _ = try ReverseTarget(path, method: "GET") }
        #expect(error?.status == 400)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("secret") == false, "\(error?.message ?? "")")
    }

    /// No path may crash it: each is either parsed or refused.
    @Test func anyBytesAreReadOrRefused() {
        var random = SplitMix(seed: 8)
        let pieces = ["/", "https:", "http:", ":", "%", "%5", "%5B", "@", "?", "a", "[", "]", "443", "..", "s1:t", "é", " "]
        for _ in 0..<20_000 {
            let path = "/" + (0..<Int(random.next() % 7)).map { _ in pieces[Int(random.next() % UInt64(pieces.count))] }.joined()
            guard let target = try? ReverseTarget(path, method: "GET") else { continue }
            #expect(path.hasPrefix(target.prefix) && target.prefix.hasPrefix(target.base))
            #expect(target.url.hasSuffix(target.originForm))
        }
    }

    private struct SplitMix {
        var seed: UInt64

        mutating func next() -> UInt64 {
            self.seed &+= 0x9E37_79B9_7F4A_7C15
            var value = self.seed
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }
}
