import NIOHTTP1
import Testing

@testable import DemoOrigin

struct LoginTests {
    static func json(_ members: (String, String)...) -> [UInt8] {
        Array("{\(members.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ","))}".utf8)
    }

    @Test func rightPasswordGetsATokenThatHasExpired() {
        let answer = Login.login(body: Self.json(("name", Login.user), ("password", Login.password)))
        #expect(answer.status == .ok)
        #expect(RoutesTests.text(answer).contains(Login.expiredToken))
        #expect(Login.me(authorization: "Bearer \(Login.expiredToken)").status == .unauthorized)
    }

    @Test func wrongPasswordIsRefused() {
        for body in [Self.json(("name", Login.user), ("password", "x")), Self.json(("name", "x"), ("password", Login.password)), []] {
            let answer = Login.login(body: body)
            #expect(answer.status == .unauthorized)
            #expect(answer.headers["WWW-Authenticate"] == ["Bearer realm=\"pets\", error=\"invalid_grant\""])
        }
    }

    @Test func refreshedTokenIsTaken() {
        let answer = Login.refresh(body: Self.json(("refresh_token", Login.refreshToken)))
        #expect(RoutesTests.text(answer).contains(Login.freshToken))
        let me = Login.me(authorization: "Bearer \(Login.freshToken)")
        #expect(me.status == .ok)
        #expect(RoutesTests.text(me).contains("보리"))
    }

    @Test func otherTokensAreRefused() {
        #expect(Login.refresh(body: Self.json(("refresh_token", "x"))).status == .unauthorized)
        for field in [nil, "", "Bearer", "Bearer x", "Basic \(Login.freshToken)"] {
            #expect(Login.me(authorization: field).status == .unauthorized)
        }
    }
}
