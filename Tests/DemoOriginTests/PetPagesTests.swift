@testable import DemoOrigin
import NIOHTTP1
import Testing

struct PetPagesTests {
    static func answer(_ method: HTTPMethod, _ id: String, _ body: String = "") -> Answer {
        PetPages.answer(method, id: id, body: Array(body.utf8))
    }

    @Test func newPetGetsANumber() {
        let answer = PetPages.create(body: Array(" {\"name\": \"초코\"}\n".utf8))
        #expect(answer.status == .created)
        #expect(answer.headers["Location"] == ["/pets/4"])
        #expect(RoutesTests.text(answer) == "{\"id\": 4, \"name\": \"초코\"}\n")
        #expect(RoutesTests.text(PetPages.create(body: Array("{ }".utf8))) == "{\"id\": 4}\n")
    }

    @Test(arguments: ["", " ", "[]", "{", "}", "\"{}\""]) func bodyThatIsNoObjectIsRefused(body: String) {
        #expect(PetPages.create(body: Array(body.utf8)).status == .badRequest)
        #expect(Self.answer(.PUT, "1", body).status == .badRequest)
    }

    @Test func petIsReadReplacedAndDeleted() {
        #expect(RoutesTests.text(Self.answer(.GET, "2")).contains("보리"))
        #expect(RoutesTests.text(Self.answer(.PUT, "2", "{\"name\": \"Bori\"}")) == "{\"id\": 2, \"name\": \"Bori\"}\n")
        let deleted = Self.answer(.DELETE, "2")
        #expect(deleted.status == .noContent)
        #expect(deleted.headers["Content-Type"].isEmpty)
        #expect(deleted.pieces == [[]])
    }

    @Test func otherPetsAndMethodsAreRefused() {
        #expect(Self.answer(.GET, "9").status == .notFound)
        #expect(Self.answer(.GET, "").status == .notFound)
        #expect(Self.answer(.POST, "1").status == .methodNotAllowed)
    }
}

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
