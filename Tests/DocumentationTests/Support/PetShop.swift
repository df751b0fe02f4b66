import Wiretape

// snippet: shop
final class PetShop: Sendable {
    private let session: Session

    init(session: Session = Session()) { self.session = session }

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
