import TapeTestSupport
import Testing

@testable import CassettePlayback

@Suite struct RequestLayoutTests {
    private func parts(_ key: String) -> [String?] {
        let bytes = Array(key.utf8)
        let layout = bytes.withUnsafeBytes { RequestLayout($0) }
        let ranges = [layout.method, layout.scheme, layout.userInformation, layout.host, layout.port, layout.path, layout.query]
        return ranges.map { $0.map { String(decoding: bytes[$0], as: UTF8.self) } }
    }

    @Test(arguments: [
        ("GET http://a.test/x?y=1", ["GET", "http", "", "a.test", "", "/x", "y=1"]),
        ("GET http://u:p@a.test:8080/", ["GET", "http", "u:p", "a.test", "8080", "/", nil]),
        ("GET http://[::1]:81/?", ["GET", "http", "", "[::1]", "81", "/", ""]),
        ("GET http://[::1]/", ["GET", "http", "", "[::1]", "", "/", nil]),
        ("GET http:///x", ["GET", "http", "", "", "", "/x", nil]),
        ("CONNECT a.test:443", ["CONNECT", "", "", "", "", "a.test:443", nil]),
        ("GET http://@80/", ["GET", "http", "", "80", "", "/", nil]),
        ("GET", ["GET", "", "", "", "", "", nil]),
        (" ", ["", "", "", "", "", "", nil]),
        ("", ["", "", "", "", "", "", nil]),
        ("GET ?://", ["GET", "", "", "", "", "", "://"]),
    ])
    func findsTheParts(key: String, expected: [String?]) {
        #expect(self.parts(key) == expected)
    }

    @Test func anyBytesHaveALayout() {
        var generator = SeededGenerator(seed: 3)
        let alphabet = Array(" :/?#@[]8a".utf8)
        for _ in 0..<rounds(3_000) {
            let bytes = (0..<Int.random(in: 0..<24, using: &generator)).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let layout = bytes.withUnsafeBytes { RequestLayout($0) }
            #expect(max(layout.host.upperBound, layout.path.upperBound, layout.query?.upperBound ?? 0) <= bytes.count)
        }
    }
}
