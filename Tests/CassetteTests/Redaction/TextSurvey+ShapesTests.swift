import Testing

@testable import CassetteRedaction

@Suite struct TextSurveyShapesTests {
    private func kinds(_ text: String) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            TextSurvey.findings(in: bytes).map { "\($0.kind)=\(String(decoding: $0.secret, as: UTF8.self))" }
        }
    }

    @Test(arguments: [
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "jwt=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln"), ("eyJhbGciOiJIUzI1NiJ9.only", nil),
        ("xoxd-Ab%2Bc0123456789", "slack-token=xoxd-Ab%2Bc0123456789"),
        ("1//0gdEfGhIjKlMnOpQrStUvWxYz0123456789", "google-token=1//0gdEfGhIjKlMnOpQrStUvWxYz0123456789"),
        ("ca: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB", nil),
        (
            "data: LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB",
            "private-key=LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1JSUJJakFOQmdrcWhraUc5dzBCQVFFRkFBT0NBUThB"
        ),
    ])
    func whatLooksLikeASecretIsFound(text: String, expected: String?) {
        #expect(self.kinds(text) == [expected].compactMap { $0 })
    }

    @Test func theSecretKeyBesideAKeyIDIsFound() {
        let text = "id AKIAIOSFODNN7EXAMPLE key wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY sha da39a3ee5e6b4b0d3255bfef95601890afd80709"
        #expect(self.kinds(text) == ["aws-key=AKIAIOSFODNN7EXAMPLE", "aws-secret=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"])
    }
}
