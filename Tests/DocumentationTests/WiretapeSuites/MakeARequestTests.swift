import Dispatch
import Foundation
import Testing
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct MakeARequestTests {
    @Test func aRequestGivesATypedValue() async throws {
        let session = Answers.session()
        // snippet: request
        let pets = try await session.request("https://example.test/pets")
            .validate()
            .serializingDecodable([Pet].self)
            .value
        // snippet end
        #expect(pets.map(\.name) == ["Miso", "보리"])
    }

    @Test func oneCallGivesAValue() async throws {
        let transport = StubTransport { request in
            switch request.method {
            case "GET": .json(Answers.pets)
            case "POST": .json(Answers.pet, status: 201)
            default: .text("no such pet", status: 404)
            }
        }
        var seen: [String] = []
        // snippet: request-value
        var configuration = HTTPSession.Configuration()
        configuration.baseURL = URL(string: "https://example.test/v1")
        let session = HTTPSession(configuration: configuration, transport: transport)
        do {
            let pets = try await session.get("/pets", query: ["kind": "cat"], as: [Pet].self)
            let added = try await session.post("/pets", json: pets[0], as: Pet.self)
            try await session.delete("/pets/\(added.id)")
        } catch {
            // A WiretapeError, without a cast.
            let body = (error.cause as? ValidationError)?.data ?? Data()
            seen = ["\(error.code)", String(decoding: body, as: UTF8.self)]
        }
        // snippet end
        #expect(seen == ["validation", "no such pet"])
        #expect(transport.requests.map(\.url.path) == ["/v1/pets", "/v1/pets", "/v1/pets/3"])
    }

    @Test func theResponseTellsMore() async throws {
        let session = Answers.session()
        // snippet: request-response
        let response = await session.request("https://example.test/pets")
            .validate()
            .serializingDecodable([Pet].self)
            .response

        switch response.result {
        case .success(let pets): print(pets.count, "pets")
        case .failure(let error): print(error.message)
        }
        print(response.response?.status ?? 0, response.headers["Content-Type"] ?? "")
        print(response.redirects.count, "redirects,", response.attempts.count, "attempts")
        print(response.timeline)
        // snippet end
        #expect(response.value?.count == 2)
        #expect(response.headers["content-type"] == "application/json")
    }

    @Test func parametersGoWhereTheEncoderSays() async throws {
        let transport = StubTransport { _ in .json(Answers.pet) }
        let session = HTTPSession(transport: transport)
        // snippet: request-parameters
        // In the query: /pets?kind=cat&tags%5B%5D=small&tags%5B%5D=asleep
        nonisolated struct Search: Encodable, Sendable {
            var kind: String
            var tags: [String]
        }
        let found = session.request(
            "https://example.test/pets",
            parameters: Search(kind: "cat", tags: ["small", "asleep"]))

        // As a form: name=%EC%B4%88%EC%BD%94
        let form = session.request(
            "https://example.test/pets", method: .post, parameters: ["name": "초코"])

        // As JSON, keys sorted: {"id":3,"name":"초코"}
        let added = session.request(
            "https://example.test/pets", method: .post,
            parameters: Pet(id: 3, name: "초코"), encoder: .json)
        // snippet end
        for request in [found, form, added] { _ = try await request.serializingData().value }
        #expect(transport.requests[0].url.absoluteString == "https://example.test/pets?kind=cat&tags%5B%5D=small&tags%5B%5D=asleep")
        guard case .data(let first) = transport.requests[1].body, case .data(let second) = transport.requests[2].body else {
            throw SnippetProblem("no bodies")
        }
        #expect(String(decoding: first, as: UTF8.self) == "name=%EC%B4%88%EC%BD%94")
        #expect(String(decoding: second, as: UTF8.self) == #"{"id":3,"name":"초코"}"#)
    }

    // snippet: request-router
    enum Router: HTTPSession.URLRequestConvertible {
        case pets
        case pet(Int)

        func asURLRequest() throws -> URLRequest {
            switch self {
            case .pets:
                try URLRequest(url: "https://example.test/pets", method: .get)
            case .pet(let id):
                try URLRequest(url: "https://example.test/pets/\(id)", method: .get)
            }
        }
    }
    // snippet end

    @Test func aRouterMakesRequests() async throws {
        let session = Answers.session()
        // snippet: request-router-use
        let pet = try await session.request(Router.pet(3))
            .validate()
            .serializingDecodable(Pet.self)
            .value
        // snippet end
        #expect(pet.name == "초코")
        #expect(try await session.request(Router.pets).serializingDecodable([Pet].self).value.count == 2)
    }

    @Test func handlersRunInOrder() async throws {
        let session = Answers.session()
        let words = AsyncStream<String>.makeStream()
        let print: @Sendable (String) -> Void = { words.continuation.yield($0) }
        // snippet: request-handlers
        session.request("https://example.test/pets")
            .validate()
            .responseDecodable(of: [Pet].self, queue: .global()) { response in
                print("first: \(response.value?.count ?? 0) pets")
            }
            .responseString(queue: .global()) { response in
                print("then: \(response.value?.count ?? 0) characters")
            }
        // snippet end
        var iterator = words.stream.makeAsyncIterator()
        #expect(await iterator.next() == "first: 2 pets")
        #expect(await iterator.next() == "then: \(Answers.pets.count) characters")
    }

    @Test func errorsHaveACode() async throws {
        let session = Answers.session()
        var seen: [String] = []
        // snippet: request-errors
        do {
            _ = try await session.request("https://example.test/nothing")
                .validate()
                .serializingData()
                .value
        } catch let error as WiretapeError where error.code == .validation {
            seen.append(error.message)
        } catch let error as WiretapeError where error.networkFailure == .refused {
            seen.append("the server is down")
        }
        // snippet end
        #expect(seen.count == 1)
        #expect(seen.first?.contains("404") == true)
    }

    @Test func aConfigurationIsForAllRequests() async throws {
        // snippet: request-configuration
        var configuration = HTTPSession.Configuration()
        configuration.headers.add(.accept("application/json"))
        configuration.timeouts = HTTPSession.Timeouts(idle: .seconds(10), total: .milliseconds(2500))
        configuration.cookieStorage = nil
        configuration.redirectHandler = HTTPSession.Redirector.doNotFollow
        let session = HTTPSession(configuration: configuration)
        // snippet end
        #expect(session.configuration.timeouts.total == .milliseconds(2500))
        #expect(session.configuration.headers["Accept"] == "application/json")
    }
}
