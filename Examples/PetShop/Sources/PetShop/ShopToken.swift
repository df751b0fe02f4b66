import Foundation
import Wiretape

/// What a login gives: good for some time, and then for another one.
struct ShopToken: Codable, Sendable, HTTPSession.AuthenticationCredential {
    var access: String
    var refresh: String

    enum CodingKeys: String, CodingKey {
        case access = "access_token"
        case refresh = "refresh_token"
    }

    /// The shop says it by 401.
    var requiresRefresh: Bool { false }
}
