@testable import CassettePlayback
import TapeTestSupport
import Testing

@Suite struct RequestKeyTests {
    @Test func isTheMethodAndTheNormalisedURL() {
        #expect(RequestKey(method: "GET", url: "HTTP://A.test:80").description == "GET http://a.test/")
    }

    @Test func methodsAreCaseSensitive() {
        #expect(RequestKey(method: "get", url: "http://a.test/") != RequestKey(method: "GET", url: "http://a.test/"))
    }

    @Test func equivalentURLsMakeEqualKeys() {
        #expect(RequestKey(method: "GET", url: "http://a.test/%7Ex#y") == RequestKey(method: "GET", url: "HTTP://A.TEST:80/~x"))
    }

    @Test func emptyAndLongRequestsHaveKeys() {
        #expect(RequestKey(method: "", url: "").bytes == Array(" ".utf8))
        let path = String(repeating: "/x", count: 50_000)
        #expect(RequestKey(method: "GET", url: "http://a.test" + path).bytes.count == "GET http://a.test".utf8.count + 100_000)
    }
}

@Suite struct URLNormalizerTests {
    private func normalize(_ url: [UInt8]) -> [UInt8] {
        url.withUnsafeBytes { url in
            withUnsafeTemporaryAllocation(byteCount: url.count + 1, alignment: 1) { output in
                let count = URLNormalizer.write(url, to: output)
                return Array(output[..<count])
            }
        }
    }

    private func normalize(_ url: String) -> String { String(decoding: self.normalize(Array(url.utf8)), as: UTF8.self) }

    @Test(arguments: [
        ("HTTP://API.Test/A", "http://api.test/A"),
        ("http://a.test:80/", "http://a.test/"),
        ("https://a.test:443", "https://a.test/"),
        ("ws://a.test:80/", "ws://a.test/"),
        ("WSS://a.test:443/", "wss://a.test/"),
        ("http://a.test:/x", "http://a.test/x"),
        ("http://a.test:443/", "http://a.test:443/"),
        ("https://a.test:80/", "https://a.test:80/"),
        ("http://a.test:8080/", "http://a.test:8080/"),
        ("http://[::1]/", "http://[::1]/"),
        ("http://[FE80::1]:80/", "http://[fe80::1]/"),
        ("http://[::80]:8080/", "http://[::80]:8080/"),
        ("http://User:Pa%7eSS@A.test/", "http://User:Pa~SS@a.test/"),
        ("http://user:80@a.test/", "http://user:80@a.test/"),
        ("http://EX%41MPLE.test/", "http://example.test/"),
        ("http://%c3%bc.test/", "http://%C3%BC.test/"),
        ("http://a.test", "http://a.test/"),
        ("http://a.test?q", "http://a.test/?q"),
        ("http://a.test#top", "http://a.test/"),
        ("http://a.test/x#top?y", "http://a.test/x"),
        ("http://a.test/x?y#top", "http://a.test/x?y"),
        ("http://a.test/%7euser/%2f%e4", "http://a.test/~user/%2F%E4"),
        ("http://a.test/%41%2D%5f%2e", "http://a.test/A-_."),
        ("http://a.test/?q=%7e%2f", "http://a.test/?q=~%2F"),
        ("http://a.test/?q=a+b%20c%2c,%", "http://a.test/?q=a+b%20c%2C,%"),
        ("http://a.test/?", "http://a.test/?"),
        ("http://a.test/a/../b/./c//d", "http://a.test/a/../b/./c//d"),
        ("http://a.test/%", "http://a.test/%"),
        ("http://a.test/%4", "http://a.test/%4"),
        ("http://a.test/%zz%4g", "http://a.test/%zz%4g"),
        ("http://a.test/%2541", "http://a.test/%2541"),
        ("http://", "http:///"),
        ("http:///x", "http:///x"),
        ("http://:80", "http:///"),
        ("://a.test", "://a.test"),
        ("1http://A.test", "1http://A.test"),
        ("A.test:443", "A.test:443"),
        ("*", "*"),
        ("/only/%41", "/only/A"),
        ("", ""),
    ])
    func spellsOneWay(url: String, expected: String) {
        #expect(self.normalize(url) == expected)
    }

    @Test func anyBytesAreTakenAndOutputGrowsByOneByteAtMost() {
        var generator = SeededGenerator(seed: 1)
        let alphabet = Array("hHtTpP:/?#@%4aF[]80\u{0}\u{7F}".utf8) + [0xFF, 0xC3]
        for _ in 0..<rounds(3_000) {
            let tail = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let url = Bool.random(using: &generator) ? Array("http://".utf8) + tail : tail
            #expect(self.normalize(url).count <= url.count + 1)
        }
    }

    @Test func encodingUnreservedCharactersAndChangingCaseMakesNoDifference() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<500 {
            let length = Int.random(in: 0..<12, using: &generator)
            let path = (0..<length).map { _ in "aZ0-._~/!".randomElement(using: &generator) ?? "a" }
            let plain = "http://a.test/" + String(path)
            var spelled = Bool.random(using: &generator) ? "HTTP://A.TEST:80/" : "http://%61.test/"
            for character in path {
                let isReserved = character == "/" || character == "!"
                if isReserved || Bool.random(using: &generator) {
                    spelled.append(character)
                } else {
                    let hex = String(character.asciiValue ?? 0, radix: 16)
                    spelled += "%" + (Bool.random(using: &generator) ? hex : hex.uppercased())
                }
            }
            #expect(self.normalize(spelled) == self.normalize(plain))
        }
    }
}
