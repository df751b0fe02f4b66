@testable import CassetteRedaction
import Testing

@Suite struct SecretNamesTests {
    @Test(arguments: ["access_token", "accessToken", "ACCESS-TOKEN", "Access.Token"])
    func separatorsAndCaseDoNotCount(name: String) {
        #expect(SecretNames.meaning(of: name.utf8)?.kind == "access_token")
    }

    @Test(arguments: ["expires_in", "token_type", "pageToken", "username", "", "passwords_allowed", "secretary"])
    func otherNamesSayNothing(name: String) {
        #expect(SecretNames.meaning(of: name.utf8) == nil)
    }

    @Test func fieldsOfVendorsCountInHeadsOnly() {
        #expect(SecretNames.meaning(ofHeader: "X-Goog-Api-Key".utf8)?.kind == "api-key")
        #expect(SecretNames.meaning(ofHeader: "X-Access-Token".utf8)?.kind == "access_token")
        #expect(SecretNames.meaning(of: "ocp-apim-subscription-key".utf8) == nil)
    }

    @Test func noTwoNamesOfTheTablesHaveOneHash() {
        // Each name gives its own kind: a collision would give another one.
        for (kind, names) in SecretNames.names {
            for name in names { #expect(SecretNames.meaning(of: name.utf8)?.kind == kind, "\(name)") }
        }
        for (kind, names) in SecretNames.headers {
            for name in names { #expect(SecretNames.meaning(ofHeader: name.utf8)?.kind == kind, "\(name)") }
        }
    }

    @Test(arguments: [("X-Acme-Api-Key", "api-key"), ("X-User-Auth-Token", "token"), ("My-Client-Secret", "client_secret")])
    func namesOfFieldsCountByTheirEnds(name: String, kind: String) {
        #expect(SecretNames.meaning(ofHeader: name.utf8)?.kind == kind)
        #expect(SecretNames.meaning(of: name.utf8) == nil)
    }

    @Test(arguments: ["X-Page-Token", "Sec-WebSocket-Key", "Idempotency-Key", "ETag", "X-Request-Id"])
    func otherFieldsSayNothing(name: String) {
        #expect(SecretNames.meaning(ofHeader: name.utf8) == nil)
    }
}
