import Foundation
import Testing
import Wiretape

@Suite struct StubOneRequestTests {
    @Test func aClosureAnswers() async throws {
        // snippet: stub
        let transport = StubTransport { request in
            switch request.url.path {
            case "/pets": .json(#"[{"id": 1, "name": "Miso"}]"#)
            default: .text("no such page", status: 404)
            }
        }
        let session = HTTPSession(transport: transport)
        let pets = try await session.request("https://example.test/pets")
            .validate()
            .serializingDecodable([Pet].self)
            .value
        // snippet end
        #expect(pets == [Pet(id: 1, name: "Miso")])
        // snippet: stub-asked
        #expect(transport.requests.map(\.url.path) == ["/pets"])
        #expect(transport.requests.first?.headers["Accept-Encoding"] != nil)
        // snippet end
    }

    @Test func answersComeInOrder() async throws {
        // snippet: stub-order
        let session = HTTPSession(
            transport: StubTransport([
                .response(503, headers: [HTTPSession.Header(name: "Retry-After", value: "1")]),
                .json(#"[]"#),
            ]))
        // snippet end
        let first = await session.request("https://example.test/pets").serializingData().response
        #expect(first.response?.status == 503)
        #expect(try await session.request("https://example.test/pets").serializingDecodable([Pet].self).value.isEmpty)
        let third = await session.request("https://example.test/pets").serializingData().response
        #expect(third.error?.code == .unserved)
    }

    @Test func rulesAnswer() async throws {
        // snippet: stub-rules
        let session = HTTPSession(
            transport: StubTransport(rules: [
                StubTransport.Rule(method: "GET", path: "/pets") { _ in .json(#"[]"#) },
                StubTransport.Rule(method: "DELETE") { _ in .response(204) },
                StubTransport.Rule({ $0.headers["X-Key"] == nil }) { _ in .response(401) },
            ]))
        // snippet end
        #expect(await session.request("https://example.test/pets/1", method: .delete).serializingData().response.response?.status == 204)
        #expect(await session.request("https://example.test/me").serializingData().response.response?.status == 401)
        let other = await session.request("https://example.test/me", headers: ["X-Key": "a"]).serializingData().response
        #expect(other.error?.code == .unserved)
    }

    @Test func aStubFails() async throws {
        // snippet: stub-failure
        let offline = HTTPSession(transport: StubTransport { _ in .failure(.unreachable) })
        let error = await offline.request("https://example.test/pets")
            .serializingData()
            .response.error
        #expect(error?.networkFailure == .unreachable)
        // snippet end
    }

    @Test func aStubTakesItsTime() async throws {
        // snippet: stub-time
        var response = StubResponse(status: 200, headers: [.contentType("text/plain")])
        response.chunks = [
            StubResponse.Chunk(Data("one ".utf8), after: .milliseconds(200)),
            StubResponse.Chunk(Data("two".utf8), after: .seconds(1)),
        ]
        let slow = response.delayed(by: .seconds(2))
        let transport = StubTransport(clock: ImmediateClock()) { _ in slow }
        let session = HTTPSession(transport: transport)
        // snippet end
        #expect(try await session.request("https://example.test/slow").serializingString().value == "one two")
    }

    @Test func aStubHangs() async throws {
        // snippet: stub-hang
        var configuration = HTTPSession.Configuration()
        configuration.timeouts = HTTPSession.Timeouts(idle: .milliseconds(20))
        let silent = StubTransport { _ in .hang }
        let session = HTTPSession(configuration: configuration, transport: silent)
        let error = await session.request("https://example.test/pets")
            .serializingData()
            .response.error
        #expect(error?.code == .timedOut)
        // snippet end
    }
}
