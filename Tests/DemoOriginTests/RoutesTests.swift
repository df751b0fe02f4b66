@testable import DemoOrigin
import NIOHTTP1
import Testing

struct RoutesTests {
    static func answer(_ method: HTTPMethod, _ uri: String, _ headers: HTTPHeaders = [:], body: [UInt8] = []) throws -> Answer {
        try Routes().answer(to: HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: headers), body: body)
    }

    static func text(_ answer: Answer) -> String { String(decoding: answer.pieces.joined(), as: UTF8.self) }

    @Test func petsAreJSON() throws {
        let answer = try Self.answer(.GET, "/pets?kind=dog")
        #expect(answer.status == .ok)
        #expect(answer.headers["Content-Type"] == ["application/json"])
        #expect(Self.text(answer).contains("보리"))
    }

    @Test func compressedPetsAreTheSamePets() throws {
        let answer = try Self.answer(.GET, "/pets.gz")
        #expect(answer.headers["Content-Encoding"] == ["gzip"])
        #expect(DeflaterTests.inflated(answer.pieces[0], limit: 10_000) == Array(Routes.pets.utf8))
    }

    @Test func imageIsLargeEnoughForAFileOfItsOwn() throws {
        let answer = try Self.answer(.GET, "/image.png")
        #expect(answer.headers["Content-Type"] == ["image/png"])
        #expect(answer.pieces[0].count >= 5 * 1024)
    }

    @Test func oldPageRedirects() throws {
        let answer = try Self.answer(.GET, "/old")
        #expect(answer.status == .found)
        #expect(answer.headers["Location"] == ["/pets"])
    }

    @Test func streamHasSeveralPieces() throws {
        #expect(try Self.answer(.GET, "/stream").pieces.count == 5)
    }

    @Test func albumIsAFileWithTwoNames() throws {
        let answer = try Self.answer(.GET, "/album")
        #expect(answer.pieces[0].count > 300_000)
        #expect(answer.headers["Content-Disposition"] == ["attachment; filename=\"album.png\"; filename*=UTF-8''%EB%B3%B4%EB%A6%AC.png"])
    }

    @Test func eventsAreCutInPieces() throws {
        let answer = try Self.answer(.GET, "/events")
        #expect(answer.headers["Content-Type"] == ["text/event-stream"])
        #expect(answer.pieces.count == 6)
        #expect(Self.text(answer).contains("event: adopted\n"))
    }

    @Test func petsAreReachedByNumber() throws {
        #expect(try Self.answer(.GET, "/pets/1").status == .ok)
        #expect(try Self.answer(.DELETE, "/pets/1?why=adopted").status == .noContent)
        #expect(try Self.answer(.GET, "/pets/9").status == .notFound)
    }

    @Test func newPetIsJSONOrAForm() throws {
        let answer = try Self.answer(.POST, "/pets", ["Content-Type": "Application/JSON; charset=utf-8"], body: Array("{}".utf8))
        #expect(Self.text(answer) == "{\"id\": 4}\n")
    }

    @Test func loginAndRefreshAreForPostAlone() throws {
        let body = LoginTests.json(("name", Login.user), ("password", Login.password))
        #expect(try Self.answer(.POST, "/login", body: body).status == .ok)
        #expect(try Self.answer(.POST, "/refresh", body: LoginTests.json(("refresh_token", Login.refreshToken))).status == .ok)
        #expect(try Self.answer(.GET, "/login").status == .notFound)
        #expect(try Self.answer(.GET, "/me", ["Authorization": "Bearer \(Login.freshToken)"]).status == .ok)
        #expect(try Self.answer(.GET, "/me").status == .unauthorized)
    }

    @Test func echoRepeatsTheRequest() throws {
        let answer = try Self.answer(.PUT, "/echo", ["A": "b"], body: Array("hello".utf8))
        #expect(Self.text(answer) == "PUT /echo HTTP/1.1\nA: b\n\nhello")
    }

    @Test func uploadIsAnsweredWithItsParts() throws {
        let body = MultipartUploadTests.wire("--XX\nContent-Disposition: form-data; name=\"name\"\n\n보리\n--XX--\n")
        let answer = try Self.answer(.POST, "/pets", ["Content-Type": MultipartUploadTests.form], body: body)
        #expect(answer.status == .created)
        #expect(Self.text(answer).contains("보리"))
    }

    @Test func uploadThatIsNoFormIsRefused() throws {
        #expect(try Self.answer(.POST, "/pets", ["Content-Type": "text/plain"]).status == .badRequest)
        #expect(try Self.answer(.POST, "/pets").status == .badRequest)
    }

    @Test func otherPagesAndMethodsAreRefused() throws {
        #expect(try Self.answer(.GET, "/nothing").status == .notFound)
        #expect(try Self.answer(.DELETE, "/pets").status == .methodNotAllowed)
    }

    @Test func answersAreNumbered() throws {
        let routes = try Routes()
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/pets")
        let numbers = (1...3).map { _ in routes.answer(to: head, body: []).headers["X-Answer"] }
        #expect(numbers == [["1"], ["2"], ["3"]])
    }
}

struct AnswerTests {
    @Test func typeComesBeforeFurtherFields() {
        let answer = Answer(.ok, json: "{}", headers: ["A": "b"])
        #expect(answer.headers.map(\.name) == ["Content-Type", "A"])
        #expect(answer.pieces == [Array("{}".utf8)])
    }
}
