import CassetteModel
import TapeExchange
import Testing

@Suite struct DigestAuthenticationInfoTests {
    private func fitted(_ info: String, _ authorization: String...) -> [String]? {
        DigestAuthenticationInfo.fitting(
            HeaderFields(["A: b", "Authentication-Info: \(info)"]), to: HeaderFields(authorization.map { "Authorization: \($0)" }))?.lines
    }

    @Test func proofForAnotherNonceIsLeftOut() {
        let info = #"rspauth="6629fae4", cnonce="0a4f113b", nc=00000001, qop=auth"#
        #expect(self.fitted(info, #"Digest username="u", cnonce="another""#) == ["A: b"])
        #expect(self.fitted(info) == ["A: b"])
    }

    @Test func proofForTheSameNonceStays() {
        let info = #"rspauth="6629fae4", cnonce="0a4f113b", nc=00000001, qop=auth"#
        #expect(self.fitted(info, #"Digest username="u, v", qop=auth, cnonce="0a4f113b""#) == nil)
    }

    @Test func nextNonceStays() {
        let info = #"nextnonce="n1", rspauth="6629fae4", cnonce="0a4f113b""#
        #expect(self.fitted(info, #"Digest cnonce="x""#) == ["A: b", #"Authentication-Info: nextnonce="n1""#])
        #expect(self.fitted(#"nextnonce="n1""#, #"Digest cnonce="x""#) == nil)
    }

    /// RFC 7804, 5: the signature of a server is for one login.
    @Test func proofOfSCRAMIsLeftOut() {
        #expect(self.fitted("sid=AAAABBBB, data=dj1ybUY5", "SCRAM-SHA-256 sid=AAAABBBB, data=Yz1iaXdz") == ["A: b"])
    }

    @Test func answerWithoutTheFieldIsNotTouched() {
        #expect(DigestAuthenticationInfo.fitting(HeaderFields(["A: b"]), to: HeaderFields()) == nil)
    }
}
