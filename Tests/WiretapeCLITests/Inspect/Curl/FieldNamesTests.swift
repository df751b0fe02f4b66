import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct FieldNamesTests {
    @Test(arguments: [("X-A", true), ("content-type", true), ("", false), ("a b", false), ("@file", false), ("x:", false), ("이름", false)])
    func tokensAreOfFewCharacters(text: String, isToken: Bool) {
        #expect(FieldNames.isToken(text) == isToken)
    }

    @Test func whatConcernsOneConnectionIsLeftOut() {
        #expect(FieldNames.isLeftOut("content-length", "3", isForm: false))
        #expect(FieldNames.isLeftOut("proxy-authorization", "Basic x", isForm: false))
        #expect(FieldNames.isLeftOut("connection", "Keep-Alive", isForm: false))
        #expect(!FieldNames.isLeftOut("connection", "close", isForm: false))
        #expect(FieldNames.isLeftOut("content-type", "multipart/form-data", isForm: true))
        #expect(!FieldNames.isLeftOut("content-type", "text/plain", isForm: false))
        #expect(!FieldNames.isLeftOut("cookie", "a=b", isForm: true))
    }

    @Test(arguments: [("http://a/b", "a"), ("https://u:p@a:8443?x", "a:8443"), ("http://[::1]:80/", "[::1]:80"), ("x", "")])
    func theAuthorityIsWithoutItsUser(url: String, authority: String) {
        #expect(FieldNames.authority(of: url) == authority)
    }
}
