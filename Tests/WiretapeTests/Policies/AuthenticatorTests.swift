import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct AuthenticatorTests {
    private let authenticator = TokenAuthenticator()

    @Test func a401IsARefusal() throws {
        let url = try #require(URL(string: "http://a/"))
        for (status, isRefusal) in [(401, true), (403, false), (407, false), (200, false)] {
            let response = HTTPResponse(url: url, status: status)
            #expect(
                self.authenticator.didRequest(
                    URLRequest(url: url), with: response, failDueToAuthenticationError: CancellationError()) == isRefusal)
        }
    }

    @Test func aRequestThatApplyingDoesNotChangeCarriesTheCredential() throws {
        var request = URLRequest(url: try #require(URL(string: "http://a/")))
        #expect(!self.authenticator.isRequest(request, authenticatedWith: .init(text: "x")))
        self.authenticator.apply(.init(text: "x"), to: &request)
        #expect(self.authenticator.isRequest(request, authenticatedWith: .init(text: "x")))
        #expect(!self.authenticator.isRequest(request, authenticatedWith: .init(text: "y")))
    }
}
