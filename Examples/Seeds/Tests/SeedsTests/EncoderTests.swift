import Foundation
import Seeds
import Testing
import Wiretape
// Has the encodings of dictionaries.
import WiretapeAlamofire
import WiretapeTesting

@Suite(.cassettes("encoders", ignoring: [.host, .port])) struct EncoderTests {
    private struct Search: Encodable {
        var kind = "cat & dog"
        var tags = ["small", "asleep"]
        var owner = ["city": "서울"]
        var old = false
    }

    private func echo(_ request: HTTPSession.DataRequest) async throws -> Echo {
        try await request.validate().serializingDecodable(Echo.self).value
    }

    @Test func methodDecidesWhereAFormGoes() async throws {
        let session = HTTPSession()
        let url = try Origin.url.appendingPathComponent("echo")
        let pairs = [["kind", "cat & dog"], ["old", "0"], ["owner[city]", "서울"], ["tags[]", "small"], ["tags[]", "asleep"]]
        #expect(try await self.echo(session.request(url, parameters: Search())).query == pairs)
        let posted = try await self.echo(session.request(url, method: .post, parameters: Search()))
        #expect(posted.query.isEmpty && posted.type.hasPrefix("application/x-www-form-urlencoded"))
        #expect(posted.text.hasPrefix("kind=cat%20%26%20dog&old=0&owner%5Bcity%5D=%EC%84%9C%EC%9A%B8"))
    }

    @Test func optionsOfTheEncoder() async throws {
        let encoder = HTTPSession.URLEncodedFormEncoder(arrayEncoding: .noBrackets, boolEncoding: .literal, spaceEncoding: .plusReplaced)
        let echo = try await self.echo(
            HTTPSession().request(
                Origin.url.appendingPathComponent("echo"), method: .post, parameters: Search(),
                encoder: .urlEncodedForm(encoder: encoder, destination: .httpBody)))
        #expect(echo.text == "kind=cat+%26+dog&old=false&owner%5Bcity%5D=%EC%84%9C%EC%9A%B8&tags=small&tags=asleep")
    }

    @Test func jsonWithSortedKeys() async throws {
        let echo = try await self.echo(
            HTTPSession().request(Origin.url.appendingPathComponent("echo"), method: .put, parameters: Search(), encoder: .json))
        #expect(echo.type == "application/json")
        #expect(echo.text == #"{"kind":"cat & dog","old":false,"owner":{"city":"서울"},"tags":["small","asleep"]}"#)
    }

    @Test(arguments: ["query", "json", "plist"]) func dictionaries(by name: String) async throws {
        let parameters: Parameters = ["name": "초코", "tags": ["small", "asleep"], "age": 3]
        let encodings: [String: any ParameterEncoding] = [
            "query": URLEncoding.queryString, "json": JSONEncoding.default, "plist": PropertyListEncoding.xml,
        ]
        let encoding = try #require(encodings[name])
        let echo = try await self.echo(
            HTTPSession().request(Origin.url.appendingPathComponent("echo"), method: .post, parameters: parameters, encoding: encoding))
        #expect((echo.size == 0) == (name == "query"))
        #expect(name != "query" || echo.query == [["age", "3"], ["name", "초코"], ["tags[]", "small"], ["tags[]", "asleep"]])
    }

    /// What differs each time is left out of the comparison.
    @Test(.cassette(ignoring: [.query("ts"), .json("/sent_at"), .json("/id")])) func timesAndIdentifiers() async throws {
        struct Event: Encodable {
            var id = UUID()
            var sent_at = Date()
            var name = "login"
        }
        let url = try Origin.url.appendingPathComponent("echo").absoluteString + "?ts=\(Date().timeIntervalSince1970)"
        #expect(try await self.echo(HTTPSession().request(url, method: .post, parameters: Event(), encoder: .json)).method == "POST")
    }

    @Test func router() async throws {
        let url = try Origin.url
        let session = HTTPSession()
        let pets = try await session.request(PetRouter.pets(url)).validate().serializingDecodable([Pet].self).value
        #expect(pets.map(\.name) == ["Miso", "보리"])
        #expect(try await session.request(PetRouter.pet(url, id: 7)).validate().serializingDecodable(Pet.self).value.name == "pet 7")
        #expect(try await self.echo(session.request(PetRouter.add(url, name: "초코"))).text == #"{"name":"초코"}"#)
    }
}
