import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// How the shop's requests carry a token, and how it is exchanged for a fresh one.
struct ShopAuthenticator: HTTPSession.Authenticator {
    var url: String
    var session: HTTPSession

    func apply(_ credential: ShopToken, to request: inout URLRequest) {
        request.setValue("Bearer \(credential.access)", forHTTPHeaderField: "Authorization")
    }

    func refresh(_ credential: ShopToken) async throws -> ShopToken {
        try await self.session.request(
            "\(self.url)/refresh", method: .post, parameters: ["refresh_token": credential.refresh], encoder: .json
        ).validate().serializingDecodable(ShopToken.self).value
    }
}
