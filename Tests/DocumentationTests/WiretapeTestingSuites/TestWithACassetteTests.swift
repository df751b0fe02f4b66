import Foundation
// snippet: testing
import Testing
import Wiretape
import WiretapeTesting

@Suite(.cassettes("shop")) struct ShopTests {
    @Test func listsPets() async throws {
        let pets = try await PetShop().pets()
        #expect(pets.map(\.name) == ["Miso", "보리"])
    }

    @Test(.cassette("upload")) func addsAPet() async throws {
        #expect(try await PetShop().add("초코").id == 3)
    }
}
// snippet end

@Suite struct TestWithACassetteTests {
    // snippet: testing-options
    @Test(.cassette("shop/listsPets", mode: .none, unused: .allow, order: .strict))
    func mayAskLessThanWasRecorded() async throws {
        let pets = try await PetShop().pets()
        #expect(pets.count == 2)
    }
    // snippet end

    // snippet: testing-arguments
    @Test(arguments: ["cat", "dog"]) func listsPets(of kind: String) async throws {
        let pets = try await withCassette("shop/pets-\(kind)") {
            let session = HTTPSession()
            return try await session.request(
                "https://example.test/pets", parameters: ["kind": kind]
            )
            .serializingDecodable([Pet].self)
            .value
        }
        #expect(pets.count == 1)
    }
    // snippet end

    // snippet: testing-settings
    @Test(.cassette("shop/listsPets", ignoring: [.query("ts")]))
    func ignoresTheTime() async throws {
        let session = HTTPSession()
        let time = Date().timeIntervalSince1970
        let pets = session.request("https://example.test/pets?ts=\(time)")
        #expect(try await pets.serializingDecodable([Pet].self).value.count == 2)
    }
    // snippet end

    // snippet: testing-modify
    @Test(
        .cassette(
            "shop/listsPets",
            modify: [.fault(.status(503, retryAfter: .seconds(2)), when: .url("/pets$"), first: 2)]))
    func listsPetsAtTheThirdAttempt() async throws {
        var configuration = HTTPSession.Configuration()
        configuration.interceptors = [HTTPSession.RetryPolicy(retryLimit: 2)]
        configuration.clock = .immediate
        let shop = PetShop(session: HTTPSession(configuration: configuration))
        #expect(try await shop.pets().count == 2)
    }
    // snippet end

    // snippet: testing-escaped
    @Test(.cassette("shop/listsPets")) func listsPetsFromAQueue() async throws {
        let queue = DispatchQueue(label: "shop")
        let pets = try await withCheckedThrowingContinuation { continuation in
            withEscapedCassette { cassette in
                queue.async {
                    cassette.yield {
                        HTTPSession().request("https://example.test/pets")
                            .responseDecodable(of: [Pet].self, queue: queue) { response in
                                continuation.resume(with: response.result)
                            }
                    }
                }
            }
        }
        #expect(pets.count == 2)
    }
    // snippet end
}
