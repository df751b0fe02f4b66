import Wiretape

// snippet: shop
final class PetShop: Sendable {
    private let session: HTTPSession

    init(session: HTTPSession = HTTPSession()) { self.session = session }

    func pets() async throws -> [Pet] {
        try await self.session.request("https://example.test/pets")
            .validate()
            .serializingDecodable([Pet].self)
            .value
    }

    func add(_ name: String) async throws -> Pet {
        try await self.session.request(
            "https://example.test/pets", method: .post, parameters: ["name": name],
            encoder: .json
        )
        .validate()
        .serializingDecodable(Pet.self)
        .value
    }
}
// snippet end
