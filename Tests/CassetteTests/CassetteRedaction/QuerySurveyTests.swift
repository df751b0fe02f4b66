@testable import CassetteRedaction
import Testing

@Suite struct QuerySurveyTests {
    private func found(_ text: String, isForm: Bool) -> [String] {
        Array(text.utf8).withUnsafeBytes { bytes in
            QuerySurvey(rules: .standard, isForm: isForm).findings(in: bytes, range: 0..<bytes.count).findings
                .map { "\($0.kind)=\(String(decoding: $0.secret, as: UTF8.self))" }
        }
    }

    @Test func namesAreDecodedFirst() {
        #expect(self.found("user%5Bpass%77ord%5D=a+b&x=1", isForm: true) == ["password=a b"])
        #expect(self.found("pass%77ord=a+b", isForm: false) == ["password=a+b"])
    }

    @Test func aCodeNeedsCompany() {
        #expect(self.found("code=c1", isForm: true) == [])
        #expect(self.found("code=c1&grant_type=authorization_code", isForm: true) == ["code=c1"])
    }
}
