import ClientTestSupport
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Belongs to the main actor, like every type of a module with that default isolation.
@MainActor private struct Pet: @MainActor Codable, @MainActor Equatable {
    var id: Int
    var name: String
}

@Suite struct SessionValuesTests {
    private struct Page: Encodable { var page: Int }

    private let transport = ScriptedTransport { exchange, _ in
        exchange.answer(200, ["Content-Type": "application/json"], #"{"id":3,"name":"Miso"}"#)
    }

    private func session(_ base: String? = "http://a.test/v1", _ transport: (any Transport)? = nil) -> HTTPSession {
        .plain(transport ?? self.transport) { $0.baseURL = base.flatMap { URL(string: $0) } }
    }

    private func text(_ body: RequestBody?) -> String {
        guard case .data(let data) = body else { return "none" }
        return String(decoding: data, as: UTF8.self)
    }

    @MainActor @Test func valuesOfTheMainActorAreSentAndDecodedThere() async throws {
        let session = self.session()
        let miso = Pet(id: 3, name: "Miso")
        #expect(try await session.get("/pets/3", as: Pet.self) == miso)
        #expect(try await session.post("/pets", json: miso, as: Pet.self) == miso)
        #expect(try await session.put("/pets/3", json: miso, as: Pet.self) == miso)
        #expect(try await session.patch("/pets/3", json: miso, as: Pet.self) == miso)
        #expect(try await session.delete("/pets/3", as: Pet.self) == miso)
        let requests = self.transport.requests
        #expect(requests.map(\.method) == ["GET", "POST", "PUT", "PATCH", "DELETE"])
        #expect(requests.map(\.url.path) == ["/v1/pets/3", "/v1/pets", "/v1/pets/3", "/v1/pets/3", "/v1/pets/3"])
        #expect(requests[1...3].allSatisfy { self.text($0.body) == #"{"id":3,"name":"Miso"}"# })
        #expect(requests[1...3].allSatisfy { $0.headers["Content-Type"] == "application/json" })
        #expect(!requests[0].body.isPresent && !requests[4].body.isPresent)
    }

    @Test func parametersAreAForm() async throws {
        struct Login: Encodable {
            var user: String
            var password: String
        }
        struct Saved: Decodable { var id: Int }
        let session = self.session()
        let login = Login(user: "Miso & Bori", password: "a=b")
        let id = try await session.post("/login", parameters: login, as: Saved.self).id
        #expect(id == 3)
        try await session.post("/login", parameters: ["a": [1, 2]])
        let requests = self.transport.requests
        #expect(requests.map { self.text($0.body) } == ["password=a%3Db&user=Miso%20%26%20Bori", "a%5B%5D=1&a%5B%5D=2"])
        #expect(requests.allSatisfy { $0.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8" })
    }

    @Test func bodiesAreReturnedAsTheyAre() async throws {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(204) }
        let session = self.session(transport: transport)
        #expect(try await session.get("/a", query: Page(page: 2)).isEmpty)
        try await session.post("/a", json: ["b": 1], headers: ["X-A": "1"])
        try await session.put("/a", json: [1])
        try await session.patch("/a", json: "x")
        try await session.delete("/a?c=1", query: ["page": "3"])
        #expect(transport.requests.map(\.url.query) == ["page=2", nil, nil, nil, "c=1&page=3"])
        #expect(transport.requests[1].headers["X-A"] == "1" && self.text(transport.requests[1].body) == #"{"b":1}"#)
    }

    @Test func aFormIsEncoded() async throws {
        var form = FormData(boundary: try FormData.Boundary("b"))
        try form.append("Miso", name: "name")
        try await self.session().post("/pets", form: form)
        #expect(await (try self.session().post("/pets", form: form, as: [String: AnyName].self))["name"]?.text == "Miso")
        for request in self.transport.requests {
            #expect(request.headers["Content-Type"] == "multipart/form-data; boundary=b")
            #expect(self.text(request.body).contains("name=\"name\"\r\n\r\nMiso"))
        }
    }

    /// A string, or any other value.
    private struct AnyName: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws { self.text = try? decoder.singleValueContainer().decode(String.self) }
    }

    @Test func anotherStatusIsAnErrorWithTheBody() async {
        let transport = ScriptedTransport { exchange, _ in exchange.answer(422, ["Content-Type": "a/b"], "no such name") }
        do {
            try await self.session(transport: transport).post("/pets", json: ["name": ""])
            Issue.record("there was no error")
        } catch {
            // The error is typed: no cast is needed.
            #expect(error.code == .validation)
            let cause = error.cause as? ValidationError
            #expect(cause?.status == 422 && cause?.data == Data("no such name".utf8))
        }
    }

    @Test func typeThatCannotBeDecodedIsNamed() async {
        let error = await #expect(throws: WiretapeError.self) { try await self.session().get("/pets/3", as: [Int].self) }
        #expect(error?.code == .serialization && error?.message.contains("Array<Int>") == true, "\(String(describing: error))")
    }

    @Test func valueThatCannotBeEncodedIsNotSent() async {
        struct Broken: Encodable {
            func encode(to encoder: any Encoder) throws { throw CocoaError(.coderInvalidValue) }
        }
        let error = await #expect(throws: WiretapeError.self) { try await self.session().post("/pets", json: Broken()) }
        #expect(error?.code == .requestBody && error?.message.contains("Broken") == true)
        #expect(await #expect(throws: WiretapeError.self) { try await self.session().get("/pets", query: 7) }?.code == .invalidRequest)
        #expect(self.transport.requests.isEmpty)
    }

    @Test func aCancelledTaskCancelsItsRequest() async {
        let transport = ScriptedTransport()
        let session = self.session(transport: transport)
        let task = Task { try await session.get("/slow") }
        let exchange = await transport.exchange(1)
        task.cancel()
        let error = await #expect(throws: WiretapeError.self) { try await task.value }
        #expect(error?.isCancelled == true && exchange.isCancelled)
    }

    @Test func aSessionThatWaitsForResumeIsNotWaitedFor() async throws {
        let session = HTTPSession.plain(self.transport) { $0.startsRequestsImmediately = false }
        #expect(try await session.get("http://a.test/").count == 22)
    }

    @Test(arguments: [
        ("https://a.test/v1", "/pets", "https://a.test/v1/pets"), ("https://a.test/v1/", "pets", "https://a.test/v1/pets"),
        ("https://a.test", "", "https://a.test"), ("https://a.test/v1?key=1#f", "?page=2", "https://a.test/v1?page=2"),
        ("https://a.test/v1", "//b.test/x", "https://a.test/v1//b.test/x"), ("https://a.test/v1", "https://b.test/x", "https://b.test/x"),
        ("https://a.test", "/보리", "https://a.test/%EB%B3%B4%EB%A6%AC"), ("https://a.test", "/a:b", "https://a.test/a:b"),
        ("https://a.test/v1", "../x", "https://a.test/v1/../x"),
    ])
    func pathsAreBelowTheBase(base: String, path: String, whole: String) throws {
        let base = BaseURL(URL(string: base))
        #expect(try base.url(of: path).absoluteString == whole)
    }

    @Test func allThatNamesAURLIsBelowTheBase() throws {
        let base = BaseURL(URL(string: "http://a.test/v1"))
        var parts = URLComponents()
        parts.path = "/pets"
        parts.queryItems = [URLQueryItem(name: "page", value: "2")]
        #expect(try base.url(of: parts).absoluteString == "http://a.test/v1/pets?page=2")
        #expect(try base.url(of: try #require(URL(string: "/pets"))).absoluteString == "http://a.test/v1/pets")
        // Components that form no URL are an error: the base alone would be wrong.
        parts.path = "//pets/3"
        #expect(throws: URLConversionError.self) { try base.url(of: parts) }
        #expect(try base.url(of: try #require(URL(string: "http://b.test/"))).absoluteString == "http://b.test/")
    }

    @Test func requestsOfEachKindAreBelowTheBase() async throws {
        let session = self.session()
        _ = await session.request("/a").serializingData().response
        _ = await session.request("/a", parameters: ["q": "1"]).serializingData().response
        _ = await session.request(URLRequest(url: try #require(URL(string: "/b")))).serializingData().response
        _ = await session.upload(Data(), to: "/c").serializingData().response
        #expect(
            self.transport.requests.map(\.url.absoluteString) == [
                "http://a.test/v1/a", "http://a.test/v1/a?q=1", "http://a.test/v1/b", "http://a.test/v1/c",
            ])
        let error = await HTTPSession.plain(self.transport).request("/a").serializingData().response.error
        #expect(error?.message.contains("baseURL") == true)
    }
}

extension SessionValuesTests {
    private func session(transport: any Transport) -> HTTPSession { self.session("http://a.test/v1", transport) }
}
