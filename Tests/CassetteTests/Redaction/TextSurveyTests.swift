import Testing

@testable import CassetteRedaction

@Suite struct TextSurveyTests {
    private func kinds(_ text: String, isForm: Bool = false) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            TextSurvey.findings(in: bytes, as: isForm ? .form : .plain).map { "\($0.kind)=\(String(decoding: $0.secret, as: UTF8.self))" }
        }
    }

    @Test(arguments: [
        (#"{"api_key" : "k1"}"#, "api-key=k1"), (#"broken "password":"a\"b", more"#, "password=a\"b"),
        ("<a:Password>x y</a:Password>", "password=x y"),
        ("GET /?token=t1&x", "token=t1"), ("<a href=\"/x?a=1&amp;token=t2\">", "token=t2"), ("redis://:pw1@h", "password=pw1"),
        ("https://ghost-token-0123456789@h/", "userinfo=ghost-token-0123456789"), (#""token":"{{token:1}}""#, nil), ("token=t1", nil),
        ("mail@example.com", nil), ("http://h/@x", nil), (#""password":"unending"#, "password=unending"),
        (#"{"grant_type":"authorization_code","code":"c0de"}"#, "code=c0de"), (#"{"error":{"code":"c0de"}}"#, nil),
        (#"{"token": ["abcdefgh12345678"]}"#, "token=abcdefgh12345678"), (#"{"password":["is too short, 8 or more"]}"#, nil),
        ("/page;jsessionid=A1B2?x=1", "session=A1B2"), ("a=1;token=e.token", nil),
        ("?signature=0123456789abcdef0&x", "signature=0123456789abcdef0"), ("?signature=short", nil),
    ])
    func findsByNamesAndLooks(text: String, found: String?) {
        #expect(self.kinds(text) == (found.map { [$0] } ?? []))
    }

    @Test func aFormBeginsWithAName() {
        #expect(self.kinds("token=t+1&a=2", isForm: true) == ["token=t 1"])
    }
}
