import Testing
@testable import TapeProxy

@Suite struct MagicHostTests {
    private func answer(
        _ target: String, method: String = "GET", isSecure: Bool = false, status: MagicStatus = MagicFixtures.status()
    ) -> ProxyAnswer {
        MagicHost().answer(method: method, target: target, isSecure: isSecure, status: status)
    }

    @Test(arguments: ["/", "", "/?a=b", "?a"])
    func thePageIsAtTheRoot(target: String) {
        let answer = self.answer(target)
        #expect(answer.status == 200)
        #expect(answer.contentType == "text/html; charset=utf-8")
        #expect(answer.text.contains("<h1>Traffic flows</h1>"))
        #expect(answer.fields.contains { $0 == ("Content-Security-Policy", MagicPage.contentSecurityPolicy) })
    }

    @Test(arguments: [
        ("/ca.pem", "application/x-pem-file", MagicFixtures.authority.pem),
        ("/ca.crt", "application/x-x509-ca-cert", MagicFixtures.authority.der),
        ("/ca.der", "application/x-x509-ca-cert", MagicFixtures.authority.der),
        ("/ca.p12", "application/x-pkcs12", MagicFixtures.authority.p12),
    ])
    func theCertificateIsAFileInEachFormat(path: String, type: String, body: [UInt8]) {
        let answer = self.answer(path)
        #expect(answer.status == 200)
        #expect(answer.contentType == type)
        #expect(answer.body == body)
        #expect(answer.fields.contains { $0 == ("Content-Disposition", "attachment; filename=\"wiretape-\(path.dropFirst())\"") })
    }

    @Test(arguments: ["/ca.pem", "/ca.crt", "/ca.der", "/ca.p12"])
    func withoutAnAuthorityThereIsNoCertificate(path: String) {
        let answer = self.answer(path, status: MagicFixtures.status(authority: nil))
        #expect(answer.status == 404)
        #expect(answer.text == "this proxy does not intercept HTTPS and has no CA: \"http://wiretape.test/\" says what it does.")
    }

    @Test func theStatusIsJSON() {
        let answer = self.answer("/status.json")
        #expect(answer.contentType == "application/json")
        #expect(answer.body == MagicFixtures.status().json)
    }

    @Test func onlyHTTPSProvesTrust() {
        let secure = self.answer("/trusted.svg", isSecure: true)
        #expect(secure.status == 200)
        #expect(secure.contentType == "image/svg+xml")
        #expect(secure.text.contains(">trusted</text>"))
        let plain = self.answer("/trusted.svg")
        #expect(plain.status == 404)
        #expect(plain.text.hasPrefix("\"/trusted.svg\" is there over https alone: ask for one of /, /ca.pem,"))
    }

    @Test(arguments: ["/favicon.ico", "/CA.pem", "/ca.pem/", "//", "/status.json%20", "*"])
    func anythingElseIsMissing(target: String) {
        let answer = self.answer(target)
        #expect(answer.status == 404)
        #expect(answer.error == "not-found")
        #expect(answer.text.hasSuffix("/, /ca.pem, /ca.crt, /ca.der, /ca.p12, /status.json, /trusted.svg."))
        #expect(target.count < 3 || !answer.text.contains(target), "repeats what was asked")
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "OPTIONS", "get"])
    func itIsOnlyRead(method: String) {
        let answer = self.answer("/", method: method)
        #expect(answer.status == 405)
        #expect(answer.fields.contains { $0 == ("Allow", "GET, HEAD") })
    }

    @Test(arguments: ["/", "/ca.pem", "/ca.p12", "/status.json", "/trusted.svg", "/missing"])
    func noAnswerIsKeptOrTaken(path: String) {
        let answer = self.answer(path, isSecure: true)
        #expect(answer.fields.contains { $0 == ("Cache-Control", "no-store") })
        #expect(answer.fields.contains { $0 == ("Referrer-Policy", "no-referrer") })
        let octets = answer.bytes(method: "HEAD", persistence: .keepAlive)
        #expect(String(decoding: octets, as: UTF8.self).contains("\r\nX-Content-Type-Options: nosniff\r\n"))
        #expect(octets.suffix(4).elementsEqual("\r\n\r\n".utf8))
    }
}
