import CassetteModel
import Testing

@Suite struct ConnectionAuthenticationTests {
    @Test(arguments: [
        "Authorization: NTLM TlRMTVNTUAAB", "authorization: ntlm TlRMTVNTUAAB", "Authorization: Negotiate YII",
        "Authorization: Kerberos YII",
        "Authorization: Nego2 x", "Proxy-Authorization: NTLM TlRM", "Authorization: Negotiate",
    ])
    func requestWithCredentialsForTheConnectionUsesIt(line: String) {
        #expect(ConnectionAuthentication.isUsed(by: HeaderFields(["Host: a", line])))
    }

    @Test(arguments: ["Authorization: Bearer NTLM", "Authorization: Basic bnRsbQ==", "Authorization: NTLMish x", "X-Authorization: NTLM x"])
    func otherCredentialsDoNot(line: String) {
        #expect(!ConnectionAuthentication.isUsed(by: HeaderFields([line])))
    }

    @Test(
        arguments: [
            (401, "WWW-Authenticate: NTLM", true), (401, "WWW-Authenticate: Negotiate", true),
            (401, "WWW-Authenticate: Basic realm=\"a, b\", NTLM", true), (407, "Proxy-Authenticate: NTLM TlRM", true),
            (200, "Persistent-Auth: true", true), (200, "Persistent-Auth: false", false), (200, "WWW-Authenticate: Negotiate oYG2", true),
            (401, "Proxy-Support: Session-Based-Authentication", false), (200, "Proxy-Support: Session-Based-Authentication", true),
            (401, "WWW-Authenticate: Basic realm=\"ntlm\"", false), (200, "Content-Type: text/plain", false),
        ] as [(Int, String, Bool)])
    func answersOfAHandshakeUseIt(status: Int, line: String, uses: Bool) {
        #expect(ConnectionAuthentication.isUsed(by: HeaderFields([line]), status: status) == uses)
    }
}
