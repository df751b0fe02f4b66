import Foundation
import TapeTestSupport
import Testing
import Wiretape
import WiretapeTesting

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The first examples of docs/swift.md.
@Suite struct FiveTasksTests {
    @Test(.cassette("shop/listsPets", mode: .none)) func getJSON() async throws {
        // snippet: task-get
        var configuration = HTTPSession.Configuration()
        configuration.baseURL = URL(string: "https://example.test")
        let session = HTTPSession(configuration: configuration)

        let pets = try await session.get("/pets", as: [Pet].self)
        // snippet end
        #expect(pets.count == 2)
    }

    @Test func postAFormWithAFile() async throws {
        let folder = try TemporaryFolder()
        let photo = URL(fileURLWithPath: try folder.write([1, 2, 3], to: "miso.jpg"))
        let transport = StubTransport { _ in .json(Answers.pet, status: 201) }
        let session = HTTPSession(transport: transport)
        // snippet: task-form
        var form = FormData()
        try form.append("Miso", name: "name")
        try form.append(photo, withName: "photo")

        let pet = try await session.post("https://example.test/pets", form: form, as: Pet.self)
        // snippet end
        #expect(pet.id == 3)
        guard case .data(let body) = transport.requests.first?.body else { throw SnippetProblem("no body") }
        #expect(String(decoding: body, as: UTF8.self).contains("filename=\"miso.jpg\""))
    }

    // snippet: task-test
    @Test(.cassette("shop/listsPets", ignoring: [.query("ts")])) func listsPets() async throws {
        let pets = try await PetShop().pets()
        #expect(pets.count == 2)
    }
    // snippet end

    @Test func talk() async throws {
        let session = HTTPSession(
            transport: StubTransport { _ in
                .webSocket { socket in
                    guard let message = try await socket.receive() else { return }
                    try await socket.send(message)
                }
            })
        // snippet: task-socket
        let socket = try await session.webSocket("wss://example.test/prices")
        try await socket.send(#"{"op": "subscribe", "pet": 3}"#)
        for try await message in socket.messages {
            print(message.text ?? "\(message.data.count) bytes")
        }
        // snippet end
        #expect(socket.closeCode == .normal)
    }

    @Test func stub() async throws {
        // snippet: task-stub
        let stub = StubTransport { _ in .json(#"[{"id": 1, "name": "Miso"}]"#) }
        let session = HTTPSession(transport: stub)

        let pets = try await session.get("https://example.test/pets", as: [Pet].self)
        #expect(pets.count == 1 && stub.requests.count == 1)
        // snippet end
    }

    @Test func refreshAToken() async throws {
        let transport = StubTransport { request in
            if request.url.path == "/refresh" { return .json(#"{"access": "new", "refresh": "r2", "expiry": 99999999999}"#) }
            return request.headers["Authorization"] == "Bearer new" ? .json(Answers.pets) : .response(401)
        }
        let plain = HTTPSession(transport: transport)
        let token = Token(access: "old", refresh: "r1", expiry: .distantFuture)
        var configuration = HTTPSession.Configuration()
        // snippet: task-token
        struct Login: HTTPSession.Authenticator {
            let session: HTTPSession
            func apply(_ token: Token, to request: inout URLRequest) {
                request.headers.update(.authorization(bearerToken: token.access))
            }
            func refresh(_ token: Token) async throws -> Token {
                try await session.post(
                    "https://example.test/refresh", json: ["refresh": token.refresh], as: Token.self)
            }
        }
        let login = Login(session: plain)
        configuration.interceptors = [HTTPSession.AuthenticationInterceptor(authenticator: login, credential: token)]
        // snippet end
        let session = HTTPSession(configuration: configuration, transport: transport)
        #expect(try await session.get("https://example.test/pets", as: [Pet].self).count == 2)
    }
}
