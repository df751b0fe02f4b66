@testable import TapeBytes
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct CassetteLayoutTests {
    @Test func theHeadEndsWithTheOpenArray() {
        let members = [UnknownMember(name: "rules", json: Array("[]".utf8))]
        #expect(
            String(decoding: CassetteLayout.head(recorder: "a \"b\"\\\u{1}", members: members), as: UTF8.self)
                == "{\n  \"wiretape\": 1,\n  \"recorder\": \"a \\\"b\\\"\\\\\\u0001\",\n  \"rules\": [],\n  \"interactions\": [")
    }

    @Test func theHeadBeginsAsTheScannerExpects() {
        #expect(CassetteLayout.head(recorder: "w", members: []).starts(with: CassetteLayout.beginning))
    }
}
